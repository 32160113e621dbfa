import { randomUUID } from 'node:crypto';
import type { Queryable } from '../../src/db/connection/pool';
import { requireDone } from '../../src/services/operations/require-done';
import { disableAccount, enableAccount } from '../../src/services/provider-accounts/account-status';
import type { ProviderAccount } from '../../src/services/provider-accounts/provider-accounts';
import { osUser } from './actors';

/** Disables one of our accounts as an operator does. */
export async function disableAsOperator(db: Queryable, account: string): Promise<ProviderAccount> {
  return requireDone(await disableAccount.run({ db }, osUser('root'), callOn(account)));
}

/** Enables one of our accounts as an operator does. */
export async function enableAsOperator(db: Queryable, account: string): Promise<ProviderAccount> {
  return requireDone(await enableAccount.run({ db }, osUser('root'), callOn(account)));
}

const callOn = (account: string) => ({ path: { account }, input: {}, formId: randomUUID() });
