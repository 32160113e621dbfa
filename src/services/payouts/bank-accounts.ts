import { fixValue } from '../../crypto/fixed-value';
import type { Sealer } from '../../crypto/sealing';
import type { Queryable } from '../../db/connection/pool';
import { findAuthority } from '../../db/identity/members';
import {
  findBankAccountRow,
  listBankAccountRows,
  listBankAccountSteps,
  type BankAccountRow,
  type BankAccountSummary,
} from '../../db/payouts/bank-accounts';
import {
  changeBankAccount,
  insertBankAccount,
  type ChangedBankAccount,
  type NewBankAccount,
} from '../../db/transitions/bank-account-transitions';
import { actorText, type ActorText } from '../../domain/actor';
import type { BankAccountInput } from '../../domain/bank-account-inquiry';
import { isProposal, type BankAccountStatus } from '../../domain/bank-account-transitions';
import { isAccountNumber, isBankCode } from '../../domain/banks';
import { ConflictError, InvalidError, NotFoundError } from '../../errors';
import type { Logger } from '../../observability/logger';

/** A merchant's bank account as its members see it. Its number is shown to no person. */
export interface BankAccount extends BankAccountSummary {
  /** The name that the bank reports; null until then. */
  readonly holderName: string | null;
}

/** A member of a merchant. */
export interface BankAccountUser {
  readonly userId: string;
  readonly merchantId: string;
}

export interface BankAccountDependencies {
  readonly db: Queryable;
  readonly sealer: Sealer;
}

/** Starts or joins the name inquiry of an account. */
export type StartInquiry = (input: BankAccountInput) => Promise<unknown>;

export interface AddDependencies extends BankAccountDependencies {
  readonly startInquiry: StartInquiry;
  readonly log: Pick<Logger, 'warn'>;
}

export interface ProposedBankAccount {
  /** The id of the form: a form that is sent twice adds one account. */
  readonly id: string;
  /** The national code: three digits. */
  readonly bankCode: string;
  /** 5 to 20 digits. It is sealed, and shown nowhere. */
  readonly number: string;
}

export function openBankAccount(sealer: Sealer, { sealedHolderName, ...account }: BankAccountRow): BankAccount {
  const binding = ['bank-account-holder', account.id] as const;
  return { ...account, holderName: sealedHolderName === null ? null : sealer.open(sealedHolderName, binding) };
}

/** The accounts of one merchant, the newest first; at most 50. */
export async function listBankAccounts(
  { db, sealer }: BankAccountDependencies,
  merchantId: string,
): Promise<BankAccount[]> {
  return (await listBankAccountRows(db, merchantId)).map((row) => openBankAccount(sealer, row));
}

/** @throws NotFoundError if the merchant has no such account */
export async function findBankAccount(
  { db, sealer }: BankAccountDependencies,
  id: string,
  merchantId: string | null,
): Promise<BankAccount> {
  const row = await findBankAccountRow(db, id, merchantId);
  if (!row) throw new NotFoundError('bankAccount', id);
  return openBankAccount(sealer, row);
}

/** When Lunas last approved or reactivated the account; null: never. */
export async function findActiveSince(db: Queryable, id: string): Promise<Date | null> {
  const steps = await listBankAccountSteps(db, id);
  return steps.findLast(({ toStatus }) => toStatus === 'active')?.occurredAt ?? null;
}

/** Why a member cannot propose an account now. */
export type ProposalRejection = 'proposal_open' | 'member_too_new';

/** The page shows it, and `addBankAccount` throws it. Null: the member can propose one. */
export async function findProposalRejection(db: Queryable, user: BankAccountUser): Promise<ProposalRejection | null> {
  const accounts = await listBankAccountRows(db, user.merchantId);
  if (accounts.some(({ status }) => isProposal(status))) return 'proposal_open';
  return (await findAuthority(db, user, null)).isAuthorised ? null : 'member_too_new';
}

const REJECTION_MESSAGES = {
  proposal_open: 'Another account of this merchant waits for the bank or for Lunas. Withdraw or reject it first.',
  member_too_new: 'A member whose role or credentials are less than a day old cannot add a bank account.',
} as const satisfies Record<ProposalRejection, string>;

/**
 * A member proposes an account. A worker asks the bank for its holder; then an operator of Lunas approves it.
 * @throws InvalidError for an unknown bank or a malformed number
 * @throws ConflictError `proposal_open` or `member_too_new`
 */
export async function addBankAccount(
  dependencies: AddDependencies,
  user: BankAccountUser,
  proposed: ProposedBankAccount,
  now: Date,
): Promise<void> {
  const { db } = dependencies;
  const actor = actorText({ kind: 'merchant_user', id: user.userId });
  if (!(await findAuthority(db, user, null)).isAuthorised) {
    throw new ConflictError('member_too_new', REJECTION_MESSAGES.member_too_new);
  }
  await proposeAccount(dependencies, { merchantId: user.merchantId, actor, at: now }, proposed);
}

interface Proposal {
  readonly merchantId: string;
  readonly actor: ActorText;
  readonly at: Date;
  readonly note?: string | undefined;
}

/** For members and for operators: stores the account, and starts its name inquiry. Errors: as `addBankAccount`. */
export async function proposeAccount(
  { db, sealer, startInquiry, log }: AddDependencies,
  proposal: Proposal,
  { id, bankCode, number }: ProposedBankAccount,
): Promise<void> {
  const { merchantId } = proposal;
  if (!isBankCode(bankCode)) throw new InvalidError('bankCode', 'Lunas does not know this bank.');
  if (!isAccountNumber(number)) throw new InvalidError('accountNumber', 'An account number has 5 to 20 digits.');
  const fixed = fixValue(sealer, number, ['bank-account-number', id, merchantId, bankCode]);
  const account: NewBankAccount = {
    ...proposal,
    id,
    bankCode,
    lastFour: number.slice(-4),
    sealedNumber: fixed.sealed,
    numberHmac: fixed.hash,
  };
  if (!(await insertBankAccount(db, account))) await requireOwnProposal(db, account);
  // The sweeper starts it if this does not.
  await startInquiry({ bankAccountId: id, merchantId }).catch((error: unknown) => {
    log.warn({ err: error, bankAccountId: id }, 'name inquiry not started; the sweeper will');
  });
}

/** The form was sent before. @throws ConflictError `proposal_open` if the merchant has another proposal */
async function requireOwnProposal(db: Queryable, { id, merchantId, actor }: NewBankAccount): Promise<void> {
  const before = await findBankAccountRow(db, id, merchantId);
  if (before?.proposedBy === actor) return;
  throw new ConflictError('proposal_open', REJECTION_MESSAGES.proposal_open);
}

/**
 * A member takes a proposal back.
 * @throws NotFoundError if the merchant has no such account
 * @throws ConflictError `not_allowed` if the account is no proposal any more
 */
export function withdrawBankAccount(db: Queryable, user: BankAccountUser, id: string, now: Date): Promise<void> {
  return changeByUser(db, user, { name: 'withdraw', id, now });
}

/** A member ends the account in use, for good: payouts stop. Errors: as `withdrawBankAccount`. */
export function disableBankAccount(db: Queryable, user: BankAccountUser, id: string, now: Date): Promise<void> {
  return changeByUser(db, user, { name: 'disable', id, now });
}

/** Why a member cannot confirm a proposal. */
export type ConfirmationRejection = 'no_proposal' | 'not_needed' | 'own_proposal' | 'member_too_new' | 'same_person';

/** The page shows it, and `confirmBankAccount` throws it. Null: the member can confirm the account. */
export async function findConfirmationRejection(
  db: Queryable,
  user: BankAccountUser,
  { status, waitsForMember, proposedBy }: BankAccountSummary,
): Promise<ConfirmationRejection | null> {
  if (status !== 'pending_approval') return 'no_proposal';
  if (!waitsForMember) return 'not_needed';
  if (proposedBy === actorText({ kind: 'merchant_user', id: user.userId })) return 'own_proposal';
  const { isAuthorised, isSecondUser } = await findAuthority(db, user, proposedBy);
  if (isSecondUser) return null;
  return isAuthorised ? 'same_person' : 'member_too_new';
}

/**
 * A second member confirms a proposal whose holder the bank has reported: then Lunas can approve it.
 * @throws NotFoundError if the merchant has no such account
 * @throws ConflictError `not_allowed` with the `ConfirmationRejection`, or if it has changed
 */
export async function confirmBankAccount(db: Queryable, user: BankAccountUser, id: string, now: Date): Promise<void> {
  const account = await findBankAccountRow(db, id, user.merchantId);
  if (!account) throw new NotFoundError('bankAccount', id);
  const rejection = await findConfirmationRejection(db, user, account);
  if (rejection !== null) throw new ConflictError('not_allowed', `The member cannot confirm it: ${rejection}.`);
  await changeByUser(db, user, { name: 'confirm', id, now });
}

async function changeByUser(
  db: Queryable,
  { userId, merchantId }: BankAccountUser,
  { name, id, now }: { readonly name: 'confirm' | 'withdraw' | 'disable'; readonly id: string; readonly now: Date },
): Promise<void> {
  const actor = actorText({ kind: 'merchant_user', id: userId });
  const changed = await changeBankAccount(db, name, { id, merchantId, version: null, at: now, actor });
  await requireChanged(db, changed, { id, merchantId });
}

/** @throws ConflictError `not_allowed` that names the status in which the account is */
export async function requireChanged(
  db: Queryable,
  changed: ChangedBankAccount | undefined,
  { id, merchantId }: { readonly id: string; readonly merchantId: string | null },
): Promise<ChangedBankAccount> {
  if (changed) return changed;
  const row = await findBankAccountRow(db, id, merchantId);
  if (!row) throw new NotFoundError('bankAccount', id);
  const { status } = row;
  throw new ConflictError('not_allowed', `The bank account is ${STATUS_WORDS[status]}: this is not possible.`);
}

const STATUS_WORDS: Readonly<Record<BankAccountStatus, string>> = {
  pending_inquiry: 'waiting for the bank',
  pending_approval: 'waiting for its approval',
  active: 'active',
  suspended: 'suspended',
  rejected: 'rejected',
  withdrawn: 'withdrawn',
  replaced: 'replaced',
  disabled: 'disabled',
};
