import { z } from 'zod';
import { merchantCode, pagePath } from '../../page/page-path';

const ofAccount = { code: merchantCode, account: z.uuid() };

export const bankAccountPath = pagePath('/m/:code/bank-account', { code: merchantCode });
export const newBankAccountPath = pagePath('/m/:code/bank-account/new', { code: merchantCode });

/** What a member can do with an account, each at a path of its own. */
export const BANK_ACCOUNT_ACTION_PATHS = {
  confirm: pagePath('/m/:code/bank-account/:account/confirm', ofAccount),
  withdraw: pagePath('/m/:code/bank-account/:account/withdraw', ofAccount),
  disable: pagePath('/m/:code/bank-account/:account/disable', ofAccount),
} as const;
