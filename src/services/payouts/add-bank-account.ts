import { z } from 'zod';
import { fixValue } from '../../crypto/fixed-value';
import type { Sealer } from '../../crypto/sealing';
import type { Queryable } from '../../db/connection/pool';
import { findAuthority } from '../../db/identity/members';
import { requireMerchant } from '../../db/merchants/require-merchant';
import { findBankAccountRow, listBankAccountRows } from '../../db/payouts/bank-accounts';
import { insertBankAccount } from '../../db/transitions/bank-account-transitions';
import { actorText } from '../../domain/actor';
import type { BankAccountInput } from '../../domain/bank-account-inquiry';
import { isProposal } from '../../domain/bank-account-transitions';
import { isAccountNumber, isBankCode } from '../../domain/banks';
import { NotFoundError } from '../../errors';
import type { AuditDependencies } from '../audit/audit';
import { Operation } from '../operations/operation';
import { done, rejected } from '../operations/rejections';
import type { PayoutUser } from './payouts';
import { secondMemberMessages } from './second-member';

interface AddNeeds extends AuditDependencies {
  readonly sealer: Sealer;
  readonly workflows: { readonly bankAccounts: { start(input: BankAccountInput): Promise<unknown> } };
}

/**
 * Proposes an account, whose id is that of the form. A worker asks the bank for its holder; then an operator approves
 * it. The number is sealed, and shown nowhere.
 */
export const addBankAccount = new Operation({
  name: 'bank_account.add',
  member: { area: 'bank_account', level: 'manage', stepUp: true },
  operator: 'all',
  path: z.object({ merchant: z.uuid() }),
  input: z.object({
    bankCode: z.string().refine(isBankCode, 'Lunas does not know this bank.'),
    number: z.string().refine(isAccountNumber, 'An account number has 5 to 20 digits.').meta({ isSecret: true }),
  }),
  rejections: { proposal_open: {}, member_too_new: {} },
  messages: {
    proposal_open: () =>
      'Another account of this merchant waits for the bank or for Lunas. Withdraw or reject it first.',
    member_too_new: secondMemberMessages.member_too_new,
  },
  async load({ db }: AddNeeds, scope, { merchant: merchantId }, by) {
    if (scope !== 'all' && scope.merchantId !== merchantId) throw new NotFoundError('merchant', merchantId);
    await requireMerchant(db, merchantId);
    const user = by.kind === 'merchant_user' ? { userId: by.id, merchantId } : null;
    return { merchantId, reason: user && (await findProposalRejection(db, user)) };
  },
  target: ({ formId }) => formId,
  detail({ by, subject: { merchantId }, input: { bankCode, number } }) {
    const lastFour = number.slice(-4);
    return by.kind === 'merchant_user'
      ? { bank_code: bankCode, last_four: lastFour }
      : { merchantId, bankCode, lastFour };
  },
  earlier: ({ needs: { db }, by, subject: { merchantId }, formId: id }) =>
    findOwnProposal(db, { id, merchantId, actor: actorText(by) }),
  allows: ({ reason }) => reason && { reason },
  async perform({ needs: { db, sealer, workflows, log }, by, subject: { merchantId }, input, formId: id, note }) {
    const { bankCode, number } = input;
    const { sealed, hash } = fixValue(sealer, number, ['bank-account-number', id, merchantId, bankCode]);
    const account = { id, merchantId, bankCode, lastFour: number.slice(-4), sealedNumber: sealed, numberHmac: hash };
    const proposal = { ...account, actor: actorText(by), at: new Date(), note };
    // The same form was sent twice within a moment, or the merchant has another proposal.
    const isNew = (await insertBankAccount(db, proposal)) !== undefined;
    if (!isNew && (await findOwnProposal(db, proposal)) === null) return rejected({ reason: 'proposal_open' });
    // The sweeper starts it if this does not.
    await workflows.bankAccounts.start({ bankAccountId: id, merchantId }).catch((error: unknown) => {
      log?.warn({ err: error, bankAccountId: id }, 'name inquiry not started; the sweeper will');
    });
    return done(id);
  },
});

/** The id of the account that the actor has proposed with this form; null: none. */
async function findOwnProposal(
  db: Queryable,
  { id, merchantId, actor }: { readonly id: string; readonly merchantId: string; readonly actor: string },
): Promise<string | null> {
  const account = await findBankAccountRow(db, id, merchantId);
  return account?.proposedBy === actor ? id : null;
}

/** Why a member cannot propose an account now; null: they can. */
export async function findProposalRejection(
  db: Queryable,
  user: PayoutUser,
): Promise<'proposal_open' | 'member_too_new' | null> {
  const accounts = await listBankAccountRows(db, user.merchantId);
  if (accounts.some(({ status }) => isProposal(status))) return 'proposal_open';
  return (await findAuthority(db, user, null)).isAuthorised ? null : 'member_too_new';
}
