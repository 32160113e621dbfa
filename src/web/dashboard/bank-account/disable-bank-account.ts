import { z } from 'zod';
import { disableBankAccount } from '../../../services/payouts/disable-bank-account';
import { memberFormPages } from '../form-pages';
import { accountConfirm } from './account-confirm';
import { BANK_ACCOUNT_ACTION_PATHS, bankAccountPath } from './bank-account-paths';
import { BANK_ACCOUNT_TEXTS } from './bank-account-texts';

export const disableBankAccountPages = memberFormPages({
  at: BANK_ACCOUNT_ACTION_PATHS.disable,
  operation: disableBankAccount,
  path: ({ account }) => ({ bankAccountId: account }),
  fields: () => z.object({}),
  errors: ({ locale }) => BANK_ACCOUNT_TEXTS[locale.language].form.errors,
  rejections: ({ locale }) => ({ wrong_status: () => BANK_ACCOUNT_TEXTS[locale.language].disable.rejection }),
  done: (_account, { view }) => bankAccountPath.to(view, { done: 'disabled' }),
  render: (page) => accountConfirm({ ...page, action: 'disable' }),
});
