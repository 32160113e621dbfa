import { changeBankAccount } from '../../db/transitions/bank-account-transitions';
import { Operation } from '../operations/operation';
import { changedOrStatus, changeOf, ON_BANK_ACCOUNT, statusAllows } from './bank-accounts';

/** Ends the account in use, for good: payouts stop. */
export const disableBankAccount = new Operation({
  name: 'bank_account.disable',
  member: { area: 'bank_account', level: 'manage', stepUp: true, whileSuspended: true },
  operator: 'all',
  ...ON_BANK_ACCOUNT,
  allows: statusAllows('disable'),
  perform: async (act) => changedOrStatus(act, await changeBankAccount(act.needs.db, 'disable', changeOf(act))),
});
