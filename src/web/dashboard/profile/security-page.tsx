import type { ReactElement, ReactNode } from 'react';
import type { SignInMethod } from '../../../domain/sign-in';
import { Card, PageHead } from '../../ui/layout';
import { Table, type Column } from '../../ui/table';
import { Time } from '../../ui/values';
import { describeBrowser } from './describe-browser';
import { Passkeys, type ShownPasskey } from './passkey-list';
import { PROFILE_TEXTS, type ProfileTexts } from './profile-texts';
import { localeOf, renderUserPage, type UserView } from './user-page';

interface ShownSession {
  readonly id: string;
  readonly method: SignInMethod;
  readonly createdAt: Date;
  readonly lastSeenAt: Date;
  readonly address: string;
  readonly userAgent: string;
}

interface SecurityPage {
  readonly view: UserView;
  readonly hasPassword: boolean;
  readonly hasTotp: boolean;
  readonly passkeys: readonly ShownPasskey[];
  /** How many recovery codes are left. */
  readonly recoveryCodes: { readonly unused: number; readonly isFew: boolean };
  readonly sessions: readonly ShownSession[];
  readonly currentSessionId: string;
}

const SECURITY = '/profile/security';

/** How the user signs in, and where. */
export function renderSecurityPage(page: SecurityPage): string {
  const { security: title } = PROFILE_TEXTS[page.view.language];
  return renderUserPage(page.view, { title, current: 'security', children: <Security {...page} /> });
}

function Security(page: SecurityPage): ReactElement {
  const texts = PROFILE_TEXTS[page.view.language];
  const { password, totp } = texts;
  return (
    <>
      <PageHead title={texts.security} />
      <div className="stack">
        <Passkeys view={page.view} passkeys={page.passkeys} />
        <Factor
          title={password.title}
          state={page.hasPassword ? password.set : password.missing}
          href={`${SECURITY}/password`}
          action={page.hasPassword ? password.change : password.create}
        />
        <Factor
          title={totp.title}
          state={page.hasTotp ? totp.set : page.hasPassword ? totp.missing : totp.withoutPassword}
          href={`${SECURITY}/totp`}
          action={page.hasTotp ? totp.replace : totp.setUp}
        />
        {(page.hasTotp || page.passkeys.length > 0) && <RecoveryCodeCount {...page} />}
        <Sessions {...page} />
      </div>
    </>
  );
}

interface FactorProps {
  readonly title: string;
  readonly state: ReactNode;
  readonly href: string;
  readonly action: string;
}

function Factor({ title, state, href, action }: FactorProps): ReactElement {
  return (
    <Card title={title}>
      <div className="card-body factor">
        <p>{state}</p>
        <a className="button" href={href}>
          {action}
        </a>
      </div>
    </Card>
  );
}

function RecoveryCodeCount({ view, recoveryCodes: { unused, isFew } }: SecurityPage): ReactElement {
  const { codes } = PROFILE_TEXTS[view.language];
  const state = [codes.left(unused), isFew ? codes.few : ''].join(' ').trim();
  return <Factor title={codes.title} state={state} href={`${SECURITY}/recovery-codes`} action={codes.create} />;
}

function Sessions({ view, sessions, currentSessionId }: SecurityPage): ReactElement {
  const { sessions: texts } = PROFILE_TEXTS[view.language];
  const endOthers = (
    <form method="post" action={`${SECURITY}/sessions/end-others`}>
      <button className="link-button">{texts.endOthers}</button>
    </form>
  );
  return (
    <Card title={texts.title} {...(sessions.length > 1 && { aside: endOthers })}>
      <Table
        caption={texts.caption}
        columns={columnsOf(view, texts, currentSessionId)}
        rows={sessions}
        keyOf={({ id }) => id}
        empty={<p className="card-body">{texts.none}</p>}
      />
    </Card>
  );
}

function columnsOf(
  view: UserView,
  texts: ProfileTexts['sessions'],
  currentSessionId: string,
): readonly Column<ShownSession>[] {
  const locale = localeOf(view);
  return [
    {
      title: texts.columns.browser,
      narrow: 'first',
      cell: ({ userAgent, method }) => (
        <>
          {describeBrowser(userAgent) ?? texts.unknown}
          <br />
          <span className="dim small">{texts.methods[method]}</span>
        </>
      ),
    },
    { title: texts.columns.address, narrow: 'second', cell: ({ address }) => <code>{address}</code> },
    {
      title: texts.columns.seen,
      narrow: 'second-end',
      cell: ({ lastSeenAt }) => <Time at={lastSeenAt} style="short" locale={locale} />,
    },
    {
      title: texts.columns.since,
      narrow: 'hidden',
      cell: ({ createdAt }) => <Time at={createdAt} style="short" locale={locale} />,
    },
    {
      title: texts.columns.action,
      narrow: 'first-end',
      cell: ({ id }) => (id === currentSessionId ? texts.current : <EndForm id={id} label={texts.end} />),
    },
  ];
}

function EndForm({ id, label }: { readonly id: string; readonly label: string }): ReactElement {
  return (
    <form method="post" action={`${SECURITY}/sessions/end`}>
      <input type="hidden" name="session" value={id} />
      <button className="link-button">{label}</button>
    </form>
  );
}
