import { z } from 'zod';
import { confirmBankAccount } from '../../../services/payouts/confirm-bank-account';
import { disableBankAccount } from '../../../services/payouts/disable-bank-account';
import { withdrawBankAccount } from '../../../services/payouts/withdraw-bank-account';
import { ConfirmPage } from '../../ui/confirm-page';
import { memberFormPages, shownVersion, type FormPage, type FormVisit } from '../form-pages';
import { renderMerchantPage } from '../merchant-page';
import type { MerchantView } from '../merchant-view';
import { SECOND_MEMBER_TEXTS } from '../texts/second-member-texts';
import { accountFacts, type ShownAccount } from './account-parts';
import { BANK_ACCOUNT_ACTION_PATHS, bankAccountPath } from './bank-account-paths';
import { BANK_ACCOUNT_TEXTS } from './bank-account-texts';

type AccountAction = keyof typeof BANK_ACCOUNT_ACTION_PATHS;

/**
 * What the pages of an action have in common.
 * @param done the code of the text on the page of the account afterwards
 */
const pagesOf = (action: AccountAction, done: 'confirmed' | 'withdrawn' | 'disabled') => ({
  at: BANK_ACCOUNT_ACTION_PATHS[action],
  path: ({ account }: { readonly account: string }) => ({ bankAccountId: account }),
  fields: () => z.object({}),
  errors: ({ locale }: MerchantView) => BANK_ACCOUNT_TEXTS[locale.language].form.errors,
  done: (_account: unknown, { view }: FormVisit) => bankAccountPath.to(view, { done }),
  render: (page: FormPage<ShownAccount>) => accountConfirm(page, action),
});

/** For each action on an account a page with one button, and what the button does. */
export const accountActionPages = [
  ...memberFormPages({
    ...pagesOf('confirm', 'confirmed'),
    fields: () => shownVersion,
    operation: confirmBankAccount,
    rejections({ locale }) {
      const { rejections } = BANK_ACCOUNT_TEXTS[locale.language].confirm;
      return {
        ...SECOND_MEMBER_TEXTS[locale.language],
        no_proposal: () => rejections.no_proposal,
        superseded: () => rejections.superseded,
        not_needed: () => rejections.no_proposal,
        own_proposal: () => rejections.own_proposal,
      };
    },
  }),
  ...memberFormPages({
    ...pagesOf('withdraw', 'withdrawn'),
    operation: withdrawBankAccount,
    rejections: ({ locale }) => ({ wrong_status: () => BANK_ACCOUNT_TEXTS[locale.language].withdraw.rejection }),
  }),
  ...memberFormPages({
    ...pagesOf('disable', 'disabled'),
    operation: disableBankAccount,
    rejections: ({ locale }) => ({ wrong_status: () => BANK_ACCOUNT_TEXTS[locale.language].disable.rejection }),
  }),
];

function accountConfirm({ view, subject, rejection }: FormPage<ShownAccount>, action: AccountAction): string {
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
      {...(action === 'confirm' && { fields: { version: String(subject.version) } })}
      cancel={texts.form.cancel}
      tone={action === 'confirm' ? 'primary' : 'danger'}
      rejection={rejection}
    />
  );
  return renderMerchantPage(view, { title, current: 'bankAccount', live: 'none', children });
}
