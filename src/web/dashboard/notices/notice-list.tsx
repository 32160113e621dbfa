import type { ReactElement } from 'react';
import { LOGIN_NOTICE_KINDS, type ChangedCredential, type NoticeKind } from '../../../domain/notice-kinds';
import { Icon } from '../../ui/icon';
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
 * What every owner has to see, each with a button that closes it for this owner. One is shown, others on demand.
 * What they did is no alarm. A notice of money or access stays for a while, with the time at which it goes instead of
 * the button.
 */
export function NoticeList({ view, notices }: NoticeListProps): ReactElement {
  return (
    <div data-part="notices" data-version={seenOf(notices)}>
      {notices.length > 0 && <Notices view={view} notices={notices} />}
    </div>
  );
}

/** What its reader must stop, unless they know of it. */
const ALARMS: ReadonlySet<NoticeKind> = new Set([
  ...LOGIN_NOTICE_KINDS,
  'bank_account.pending_inquiry',
  'bank_account.pending_approval',
  'payout.schedule_proposed',
  'payout.schedule_changed',
  'payment.other_amount',
  'security.owner_changed',
  'security.key_created',
  'security.webhook_changed',
  'security.return_url_changed',
  'security.contact_changed',
  'security.origins_changed',
]);
const LOGINS: ReadonlySet<NoticeKind> = new Set(LOGIN_NOTICE_KINDS);
const isAlarm = ({ kind, isOwn }: ShownNotice) => ALARMS.has(kind) && !isOwn;

/** A login comes first, whatever else was changed after it. */
const urgencyOf = (notice: ShownNotice) => (LOGINS.has(notice.kind) ? 0 : isAlarm(notice) ? 1 : 2);

/** What the form sends: exactly what the page shows is closed. */
const seenOf = (notices: readonly ShownNotice[]) => notices.map(({ id, count }) => `${id}.${count}`).join(' ');

function Notices({ view, notices }: NoticeListProps): ReactElement {
  const texts = NOTICE_TEXTS[view.locale.language];
  const closable = notices.filter(({ shownUntil }) => shownUntil === null);
  const [first, ...others] = notices.toSorted((one, other) => urgencyOf(one) - urgencyOf(other));
  return (
    <Card
      title={texts.title}
      aside={closable.length > 1 ? <Close view={view} notices={closable} label={texts.closeAll} /> : undefined}
    >
      {first && <NoticeRows view={view} notices={[first]} />}
      {others.length > 0 && (
        <details className="more-rows">
          <summary>{texts.more(others.length)}</summary>
          <NoticeRows view={view} notices={others} />
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
          <span className={isAlarm(notice) ? 'mark' : 'mark own'}>
            <Icon name={isAlarm(notice) ? 'alert' : 'done'} />
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
