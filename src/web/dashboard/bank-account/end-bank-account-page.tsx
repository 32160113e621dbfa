import type { ReactElement } from 'react';
import { ConfirmForm } from '../../ui/form';
import { Card, Facts, PageHead } from '../../ui/layout';
import { renderMerchantPage } from '../merchant-page';
import type { MerchantView } from '../merchant-view';
import { accountFacts, type ShownAccount } from './account-parts';
import { BANK_ACCOUNT_TEXTS } from './bank-account-texts';

interface EndBankAccountPage {
  readonly view: MerchantView;
  readonly account: ShownAccount;
  readonly action: 'withdraw' | 'disable';
  readonly isPossible: boolean;
}

export function renderEndBankAccountPage(page: EndBankAccountPage): string {
  return renderMerchantPage(page.view, {
    title: BANK_ACCOUNT_TEXTS[page.view.locale.language][page.action].title,
    current: 'bankAccount',
    live: 'none',
    children: <EndBankAccount {...page} />,
  });
}

function EndBankAccount({ view, account, action, isPossible }: EndBankAccountPage): ReactElement {
  const texts = BANK_ACCOUNT_TEXTS[view.locale.language];
  const { title, text, button, rejection } = texts[action];
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
          action={view.paths.endBankAccount(account.id, action)}
          label={button}
          tone="danger"
          rejection={isPossible ? null : rejection}
        >
          <a className="button wide-button" href={back}>
            {texts.form.cancel}
          </a>
        </ConfirmForm>
      </div>
    </div>
  );
}
