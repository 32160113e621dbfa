import type { ReactElement, ReactNode } from 'react';
import { ConfirmPage } from '../../ui/confirm-page';
import type { Fact } from '../../ui/layout';
import { renderMerchantPage } from '../merchant-page';
import type { MerchantView } from '../merchant-view';
import { TEAM_TEXTS } from './team-texts';

interface ConfirmAccessPage {
  readonly view: MerchantView;
  readonly title: string;
  /** Whom it concerns: a name or an e-mail. */
  readonly subject: string;
  readonly facts: readonly Fact[];
  readonly explanation: string | null;
  readonly action: string;
  readonly button: string;
  readonly tone: 'primary' | 'danger';
  readonly fields?: Readonly<Record<string, string>>;
  readonly back: string;
  /** Why it is not possible; null if it is. */
  readonly rejection: string | null;
  readonly question?: ReactNode;
}

/** The question before access changes. */
export function renderConfirmAccessPage(page: ConfirmAccessPage): string {
  return renderMerchantPage(page.view, {
    title: page.title,
    current: 'team',
    live: 'none',
    children: <ConfirmAccess {...page} />,
  });
}

function ConfirmAccess({ view, subject, back, ...page }: ConfirmAccessPage): ReactElement {
  return <ConfirmPage {...page} back={{ href: back, label: subject }} cancel={TEAM_TEXTS[view.locale.language].back} />;
}
