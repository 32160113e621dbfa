import type { ReactElement } from 'react';
import { LOGIN_NOTICE_KINDS, type ChangedCredential, type NoticeKind } from '../../../domain/notice-kinds';
import { Card } from '../../ui/layout';
import { Time } from '../../ui/values';
import type { MerchantView } from '../merchant-view';
import { closeNoticesPath } from './close-notice';
import { describeNotice, NOTICE_TEXTS } from './notice-texts';

export interface ShownNotice {
  readonly id: number;
  readonly kind: NoticeKind;
  readonly targetName: string | null;
  readonly changed: readonly ChangedCredential[];
  readonly times: number;
  readonly count: number;
  readonly occurredAt: Date;
  readonly isOwn: boolean;
  readonly shownUntil: Date | null;
}

interface NoticeListProps {
  readonly view: MerchantView;
  readonly notices: readonly ShownNotice[];
}

/**
 * What every owner has to see, each with a button that closes it for this owner. What they did is no alarm. A notice of
 * money or access stays for a while, with the time at which it goes instead of the button.
 */
export function NoticeList({ view, notices }: NoticeListProps): ReactElement {
  return (
    <div data-part="notices" data-version={seenOf(notices)}>
      {notices.length > 0 && <Notices view={view} notices={notices} />}
    </div>
  );
}

/**
 * The newest of what this owner did; the others are below a line that opens. Changes of a login are not: a thief could
 * hide them by later changes.
 */
const OWN_SHOWN = 3;
const ALWAYS_SHOWN: ReadonlySet<NoticeKind> = new Set(LOGIN_NOTICE_KINDS);

/** What the form sends: exactly what the page shows is closed. */
const seenOf = (notices: readonly ShownNotice[]) => notices.map(({ id, count }) => `${id}.${count}`).join(' ');

function Notices({ view, notices }: NoticeListProps): ReactElement {
  const texts = NOTICE_TEXTS[view.locale.language];
  const closable = notices.filter(({ shownUntil }) => shownUntil === null);
  const folded = new Set(notices.filter(({ isOwn, kind }) => isOwn && !ALWAYS_SHOWN.has(kind)).slice(OWN_SHOWN));
  return (
    <Card
      title={texts.title}
      aside={closable.length > 1 ? <Close view={view} notices={closable} label={texts.closeAll} /> : undefined}
    >
      <NoticeRows view={view} notices={notices.filter((notice) => !folded.has(notice))} />
      {folded.size > 0 && (
        <details className="more-rows">
          <summary>{texts.more(folded.size)}</summary>
          <NoticeRows view={view} notices={[...folded]} />
        </details>
      )}
    </Card>
  );
}

function NoticeRows({ view, notices }: NoticeListProps): ReactElement {
  const texts = NOTICE_TEXTS[view.locale.language];
  return (
    <ul className="attention">
      {notices.map((notice) => (
        <li key={notice.id}>
          <span className={notice.isOwn ? 'mark own' : 'mark'} aria-hidden="true">
            {notice.isOwn ? '✓' : '!'}
          </span>
          <span>
            {describeNotice(notice, view.locale.language)}{' '}
            <span className="dim small">
              {notice.times > 1 && `${texts.times(notice.times)} `}
              <Time at={notice.occurredAt} style="short" locale={view.locale} />
            </span>
          </span>
          {notice.shownUntil === null ? (
            <Close view={view} notices={[notice]} label={texts.close} />
          ) : (
            <span className="dim small">
              {texts.shownUntil} <Time at={notice.shownUntil} style="short" locale={view.locale} />
            </span>
          )}
        </li>
      ))}
    </ul>
  );
}

function Close({ view, notices, label }: NoticeListProps & { readonly label: string }): ReactElement {
  return (
    <form method="post" action={closeNoticesPath.to(view)}>
      <input type="hidden" name="seen" value={seenOf(notices)} />
      <button className="link-button">{label}</button>
    </form>
  );
}
