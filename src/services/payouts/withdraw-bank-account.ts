import { changeBankAccount } from '../../db/transitions/bank-account-transitions';
import { Operation } from '../operations/operation';
import { changedOrStatus, changeOf, ON_BANK_ACCOUNT, statusAllows } from './bank-accounts';

/** A member takes a proposal back. */
export const withdrawBankAccount = new Operation({
  name: 'bank_account.withdraw',
  member: { area: 'bank_account', level: 'manage', stepUp: true, whileSuspended: true },
  ...ON_BANK_ACCOUNT,
  allows: statusAllows('withdraw'),
  perform: async (act) => changedOrStatus(act, await changeBankAccount(act.needs.db, 'withdraw', changeOf(act))),
});
