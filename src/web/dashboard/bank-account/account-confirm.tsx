import { ConfirmPage } from '../../ui/confirm-page';
import type { FormPage } from '../form-pages';
import { renderMerchantPage } from '../merchant-page';
import { accountFacts, type ShownAccount } from './account-parts';
import { BANK_ACCOUNT_ACTION_PATHS, bankAccountPath } from './bank-account-paths';
import { BANK_ACCOUNT_TEXTS } from './bank-account-texts';

interface AccountConfirm extends FormPage<ShownAccount> {
  readonly action: keyof typeof BANK_ACCOUNT_ACTION_PATHS;
}

/** The page with the button of an action on an account, as HTML. */
export function accountConfirm({ view, subject, action, rejection }: AccountConfirm): string {
  const texts = BANK_ACCOUNT_TEXTS[view.locale.language];
  const { title, text, button } = texts[action];
  const children = (
    <ConfirmPage
      title={title}
      back={{ href: bankAccountPath.to(view), label: texts.title }}
      facts={accountFacts({ view, account: subject })}
      explanation={text}
      action={BANK_ACCOUNT_ACTION_PATHS[action].to({ code: view.code, account: subject.id })}
      button={button}
      cancel={texts.form.cancel}
      tone={action === 'confirm' ? 'primary' : 'danger'}
      rejection={rejection}
    />
  );
  return renderMerchantPage(view, { title, current: 'bankAccount', live: 'none', children });
}
