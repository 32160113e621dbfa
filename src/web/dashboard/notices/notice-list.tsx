import type { ReactElement } from 'react';
import { LOGIN_NOTICE_KINDS, type ChangedCredential, type NoticeKind } from '../../../domain/notice-kinds';
import { Card } from '../../ui/layout';
import { Time } from '../../ui/values';
import type { MerchantView } from '../merchant-view';
import { describeNotice, NOTICE_TEXTS } from './notice-texts';

export interface ShownNotice {
  readonly id: number;
  readonly kind: NoticeKind;
  readonly targetName: string | null;
  readonly changed: readonly ChangedCredential[];
  readonly occurredAt: Date;
  readonly isOwn: boolean;
}

interface NoticeListProps {
  readonly view: MerchantView;
  readonly notices: readonly ShownNotice[];
}

/** What every owner has to see, each with a button that closes it for this owner. What they did is no alarm. */
export function NoticeList({ view, notices }: NoticeListProps): ReactElement {
  const [newest] = notices;
  return (
    <div data-part="notices" data-version={notices.map(({ id }) => id).join()}>
      {newest !== undefined && <Notices view={view} notices={notices} newest={newest} />}
    </div>
  );
}

/**
 * The newest of what this owner did; the others are below a line that opens. Changes of a login are not: a thief could
 * hide them by later changes.
 */
const OWN_SHOWN = 3;
const ALWAYS_SHOWN: ReadonlySet<NoticeKind> = new Set(LOGIN_NOTICE_KINDS);

function Notices({ view, notices, newest }: NoticeListProps & { readonly newest: ShownNotice }): ReactElement {
  const texts = NOTICE_TEXTS[view.locale.language];
  const closeAll = (
    <form method="post" action={view.paths.closeNotice(newest.id)}>
      <input type="hidden" name="older" value="yes" />
      <button className="link-button">{texts.closeAll}</button>
    </form>
  );
  const folded = new Set(notices.filter(({ isOwn, kind }) => isOwn && !ALWAYS_SHOWN.has(kind)).slice(OWN_SHOWN));
  return (
    <Card title={texts.title} aside={notices.length > 1 ? closeAll : undefined}>
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
              <Time at={notice.occurredAt} style="short" locale={view.locale} />
            </span>
          </span>
          <form method="post" action={view.paths.closeNotice(notice.id)}>
            <button className="link-button">{texts.close}</button>
          </form>
        </li>
      ))}
    </ul>
  );
}
