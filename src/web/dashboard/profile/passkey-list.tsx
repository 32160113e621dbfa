import type { ReactElement } from 'react';
import { Card } from '../../ui/layout';
import { Table, type Column } from '../../ui/table';
import { Time } from '../../ui/values';
import { PROFILE_TEXTS } from './profile-texts';
import { localeOf, type UserView } from './user-page';

export interface ShownPasskey {
  readonly id: string;
  readonly name: string;
  readonly isBackedUp: boolean;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
}

interface PasskeysProps {
  readonly view: UserView;
  readonly passkeys: readonly ShownPasskey[];
}

const PASSKEYS = '/profile/security/passkeys';

/** The passkeys of the user, and how to add one. */
export function Passkeys({ view, passkeys }: PasskeysProps): ReactElement {
  const { passkeys: texts } = PROFILE_TEXTS[view.language];
  return (
    <Card title={texts.title}>
      <div className="card-body factor">
        <p>{texts.explanation}</p>
        <a className="button" href={`${PASSKEYS}/new`}>
          {texts.add}
        </a>
      </div>
      {passkeys.length > 0 && (
        <Table
          caption={texts.caption}
          columns={columnsOf(view)}
          rows={passkeys}
          keyOf={({ id }) => id}
          empty={<p className="card-body">{texts.none}</p>}
        />
      )}
    </Card>
  );
}

/** Where a passkey is: on one device, or also in a backup. */
export function storageText({ language }: UserView, isBackedUp: boolean): string {
  const { passkeys: texts } = PROFILE_TEXTS[language];
  return isBackedUp ? texts.backedUp : texts.singleDevice;
}

export function LastUse({ view, at }: { readonly view: UserView; readonly at: Date | null }): ReactElement {
  if (at === null) return <>{PROFILE_TEXTS[view.language].passkeys.never}</>;
  return <Time at={at} style="short" locale={localeOf(view)} />;
}

function columnsOf(view: UserView): readonly Column<ShownPasskey>[] {
  const { passkeys: texts } = PROFILE_TEXTS[view.language];
  const locale = localeOf(view);
  return [
    {
      title: texts.columns.name,
      narrow: 'first',
      cell: ({ name, isBackedUp }) => (
        <>
          <span className="breakable">{name}</span>
          <br />
          <span className="dim small">{storageText(view, isBackedUp)}</span>
        </>
      ),
    },
    {
      title: texts.columns.added,
      narrow: 'hidden',
      cell: ({ createdAt }) => <Time at={createdAt} style="short" locale={locale} />,
    },
    {
      title: texts.columns.used,
      narrow: 'second',
      cell: ({ lastUsedAt }) => <LastUse view={view} at={lastUsedAt} />,
    },
    {
      title: texts.columns.action,
      narrow: 'first-end',
      cell: ({ id, name }) => (
        <a href={`${PASSKEYS}/${id}`} aria-label={`${texts.change}: ${name}`}>
          {texts.change}
        </a>
      ),
    },
  ];
}
