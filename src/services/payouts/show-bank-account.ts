import type { Sealer } from '../../crypto/sealing';
import { listBankAccountSteps, listSameNumberMerchants, type BankAccountStep } from '../../db/payouts/bank-accounts';
import type { BankAccountInput } from '../../domain/bank-account-inquiry';
import { Operation } from '../operations/operation';
import { done } from '../operations/rejections';
import { findBankAccount, ON_BANK_ACCOUNT, type BankAccount, type BankAccountNeeds } from './bank-accounts';

/** A bank account with its history, for operators. */
export interface BankAccountDetails extends BankAccount {
  /** Other merchants that had the same account at the inquiry. */
  readonly sameNumberMerchants: readonly string[];
  readonly steps: readonly BankAccountStep[];
}

interface ShowNeeds extends BankAccountNeeds {
  readonly sealer: Sealer;
}

/** Shows the holder's name, so the audit log records it. */
export const showBankAccount = new Operation({
  name: 'bank_account.show',
  operator: 'all',
  ...ON_BANK_ACCOUNT,
  rejections: {},
  messages: {},
  load: (needs: ShowNeeds, scope, path) => ON_BANK_ACCOUNT.load(needs, scope, path),
  perform: async ({ needs, subject: { id } }) => done(await readDetails(needs, id)),
});

interface VerifyNeeds extends ShowNeeds {
  readonly workflows: { readonly bankAccounts: { inquire(input: BankAccountInput): Promise<unknown> } };
}

/** Asks the bank for the holder again, and waits for the result. */
export const verifyBankAccount = new Operation({
  name: 'bank_account.verify',
  operator: 'all',
  ...ON_BANK_ACCOUNT,
  rejections: {},
  messages: {},
  load: (needs: VerifyNeeds, scope, path) => ON_BANK_ACCOUNT.load(needs, scope, path),
  async perform({ needs, subject: { id, merchantId } }) {
    await needs.workflows.bankAccounts.inquire({ bankAccountId: id, merchantId });
    return done(await readDetails(needs, id));
  },
});

async function readDetails(needs: ShowNeeds, id: string): Promise<BankAccountDetails> {
  const [account, sameNumberMerchants, steps] = await Promise.all([
    findBankAccount(needs, id, null),
    listSameNumberMerchants(needs.db, id),
    listBankAccountSteps(needs.db, id),
  ]);
  return { ...account, sameNumberMerchants, steps };
}
