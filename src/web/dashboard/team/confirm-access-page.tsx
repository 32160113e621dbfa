import type { ReactElement, ReactNode } from 'react';
import { ConfirmForm } from '../../ui/form';
import { PageHead } from '../../ui/layout';
import { renderMerchantPage } from '../merchant-page';
import type { MerchantView } from '../merchant-view';
import { TEAM_TEXTS } from './team-texts';

interface ConfirmAccessPage {
  readonly view: MerchantView;
  readonly title: string;
  /** Whom it concerns: a name or an e-mail. */
  readonly subject: string;
  readonly explanation: string | null;
  readonly action: string;
  readonly button: string;
  readonly tone: 'primary' | 'danger';
  readonly fields?: Readonly<Record<string, string>>;
  readonly back: string;
  /** Why it is not possible; null if it is. */
  readonly rejection: string | null;
  readonly children?: ReactNode;
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

function ConfirmAccess(page: ConfirmAccessPage): ReactElement {
  const { view, title, subject, explanation, action, button, tone, fields, back, rejection, children } = page;
  return (
    <div className="narrow">
      <PageHead title={title} back={{ href: back, label: subject }} />
      <div className="stack">
        {children}
        {explanation !== null && <p className="text">{explanation}</p>}
        <ConfirmForm action={action} label={button} tone={tone} rejection={rejection} {...(fields && { fields })}>
          <a className="button wide-button" href={back}>
            {TEAM_TEXTS[view.locale.language].back}
          </a>
        </ConfirmForm>
      </div>
    </div>
  );
}
