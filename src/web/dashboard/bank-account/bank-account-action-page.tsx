import type { ReactElement } from 'react';
import { ConfirmForm } from '../../ui/form';
import { Card, Facts, PageHead } from '../../ui/layout';
import { renderMerchantPage } from '../merchant-page';
import type { MerchantView } from '../merchant-view';
import { accountFacts, type ShownAccount } from './account-parts';
import { BANK_ACCOUNT_TEXTS } from './bank-account-texts';

/** What a member does to an account. */
export type BankAccountAction = 'confirm' | 'withdraw' | 'disable';

interface BankAccountActionPage {
  readonly view: MerchantView;
  readonly account: ShownAccount;
  readonly action: BankAccountAction;
  /** Why it is not possible; null: it is. */
  readonly rejection: string | null;
}

export function renderBankAccountActionPage(page: BankAccountActionPage): string {
  return renderMerchantPage(page.view, {
    title: BANK_ACCOUNT_TEXTS[page.view.locale.language][page.action].title,
    current: 'bankAccount',
    live: 'none',
    children: <ActionForm {...page} />,
  });
}

function ActionForm({ view, account, action, rejection }: BankAccountActionPage): ReactElement {
  const texts = BANK_ACCOUNT_TEXTS[view.locale.language];
  const { title, text, button } = texts[action];
  const back = view.paths.bankAccount;
  return (
    <div className="narrow">
      <PageHead title={title} back={{ href: back, label: texts.title }} />
      <div className="stack">
        <Card>
          <Facts facts={accountFacts({ view, account })} />
        </Card>
        <p className="text">{text}</p>
        <ConfirmForm
          action={view.paths.bankAccountAction(account.id, action)}
          label={button}
          tone={action === 'confirm' ? 'primary' : 'danger'}
          rejection={rejection}
        >
          <a className="button wide-button" href={back}>
            {texts.form.cancel}
          </a>
        </ConfirmForm>
      </div>
    </div>
  );
}
