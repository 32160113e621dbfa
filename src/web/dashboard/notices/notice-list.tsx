import type { ReactElement } from 'react';
import type { NoticeKind } from '../../../domain/notice-kinds';
import { Card } from '../../ui/layout';
import { Time } from '../../ui/values';
import type { MerchantView } from '../merchant-view';
import { NOTICE_TEXTS } from './notice-texts';

export interface ShownNotice {
  readonly id: number;
  readonly kind: NoticeKind;
  readonly targetName: string | null;
  readonly occurredAt: Date;
}

interface NoticeListProps {
  readonly view: MerchantView;
  readonly notices: readonly ShownNotice[];
}

/** What every owner has to see, each with a button that closes it for this owner. */
export function NoticeList({ view, notices }: NoticeListProps): ReactElement | null {
  const texts = NOTICE_TEXTS[view.locale.language];
  if (notices.length === 0) return null;
  return (
    <Card title={texts.title}>
      <ul className="attention">
        {notices.map((notice) => (
          <li key={notice.id}>
            <span className="mark" aria-hidden="true">
              !
            </span>
            <span>
              {texts.kinds[notice.kind](notice.targetName ?? texts.unnamed)}{' '}
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
    </Card>
  );
}
