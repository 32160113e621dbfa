import { z } from 'zod';
import { confirmBankAccount } from '../../../services/payouts/confirm-bank-account';
import { memberFormPages } from '../form-pages';
import { accountConfirm } from './account-confirm';
import { BANK_ACCOUNT_ACTION_PATHS, bankAccountPath } from './bank-account-paths';
import { BANK_ACCOUNT_TEXTS } from './bank-account-texts';

export const confirmBankAccountPages = memberFormPages({
  at: BANK_ACCOUNT_ACTION_PATHS.confirm,
  operation: confirmBankAccount,
  path: ({ account }) => ({ bankAccountId: account }),
  fields: () => z.object({}),
  errors: ({ locale }) => BANK_ACCOUNT_TEXTS[locale.language].form.errors,
  rejections({ locale }) {
    const { rejections } = BANK_ACCOUNT_TEXTS[locale.language].confirm;
    return {
      no_proposal: () => rejections.no_proposal,
      not_needed: () => rejections.no_proposal,
      own_proposal: () => rejections.own_proposal,
      member_too_new: () => rejections.member_too_new,
      same_person: () => rejections.same_person,
    };
  },
  done: (_account, { view }) => bankAccountPath.to(view, { done: 'confirmed' }),
  render: (page) => accountConfirm({ ...page, action: 'confirm' }),
});
