import { stopBankAccount } from '../../db/transitions/bank-account-transitions';
import { Operation } from '../operations/operation';
import { changedOrStatus, changeOf, ON_BANK_ACCOUNT } from './bank-accounts';

/** Rejects a proposal. The merchant sees the note. */
export const rejectBankAccount = new Operation({
  name: 'bank_account.reject',
  operator: 'all',
  ...ON_BANK_ACCOUNT,
  perform: async (act) =>
    changedOrStatus(act, await stopBankAccount(act.needs.db, 'reject', changeOf(act), act.note ?? '')),
});

/** Stops payouts to the account in use. The merchant sees the note. */
export const suspendBankAccount = new Operation({
  name: 'bank_account.suspend',
  operator: 'all',
  ...ON_BANK_ACCOUNT,
  perform: async (act) =>
    changedOrStatus(act, await stopBankAccount(act.needs.db, 'suspend', changeOf(act), act.note ?? '')),
});
