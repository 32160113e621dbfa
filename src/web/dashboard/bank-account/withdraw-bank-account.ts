import { z } from 'zod';
import { withdrawBankAccount } from '../../../services/payouts/withdraw-bank-account';
import { memberFormPages } from '../form-pages';
import { accountConfirm } from './account-confirm';
import { BANK_ACCOUNT_ACTION_PATHS, bankAccountPath } from './bank-account-paths';
import { BANK_ACCOUNT_TEXTS } from './bank-account-texts';

export const withdrawBankAccountPages = memberFormPages({
  at: BANK_ACCOUNT_ACTION_PATHS.withdraw,
  operation: withdrawBankAccount,
  path: ({ account }) => ({ bankAccountId: account }),
  fields: () => z.object({}),
  errors: ({ locale }) => BANK_ACCOUNT_TEXTS[locale.language].form.errors,
  rejections: ({ locale }) => ({ wrong_status: () => BANK_ACCOUNT_TEXTS[locale.language].withdraw.rejection }),
  done: (_account, { view }) => bankAccountPath.to(view, { done: 'withdrawn' }),
  render: (page) => accountConfirm({ ...page, action: 'withdraw' }),
});
