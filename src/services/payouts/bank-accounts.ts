import { z } from 'zod';
import type { Sealer } from '../../crypto/sealing';
import type { Queryable } from '../../db/connection/pool';
import {
  findBankAccountRow,
  listBankAccountRows,
  listBankAccountSteps,
  type BankAccountRow,
  type BankAccountSummary,
} from '../../db/payouts/bank-accounts';
import type { BankAccountTransitionInput, ChangedBankAccount } from '../../db/transitions/bank-account-transitions';
import { actorText, type Person, type Scope } from '../../domain/actor';
import {
  BANK_ACCOUNT_STATUSES,
  BANK_ACCOUNT_TRANSITIONS,
  type BankAccountStatus,
  type BankAccountTransitionName,
} from '../../domain/bank-account-transitions';
import { NotFoundError } from '../../errors';
import type { AuditDependencies } from '../audit/audit';
import type { Act, ActOn } from '../operations/operation-spec';
import { done, rejected, type Reasons, type RejectionTexts } from '../operations/rejections';

/** A merchant's bank account as its members see it. Its number is shown to no person. */
export interface BankAccount extends BankAccountSummary {
  /** The name that the bank reports; null until then, and for a caller who cannot open it. */
  readonly holderName: string | null;
}

export interface BankAccountDependencies {
  readonly db: Queryable;
  /** Absent: the caller shows no name of a holder. */
  readonly sealer?: Sealer | undefined;
}

function openBankAccount(sealer: Sealer | undefined, { sealedHolderName, ...account }: BankAccountRow): BankAccount {
  const binding = ['bank-account-holder', account.id] as const;
  const isClosed = sealer === undefined || sealedHolderName === null;
  return { ...account, holderName: isClosed ? null : sealer.open(sealedHolderName, binding) };
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

/* What the acts on a bank account have in common: one statement compares its status, and changes it. */

export type BankAccountNeeds = AuditDependencies & BankAccountDependencies;

const accountPath = z.object({ bankAccountId: z.uuid() });

/** The account has another status, or another version than the one that two operators have approved. */
export const statusReason = { wrong_status: { status: z.enum(BANK_ACCOUNT_STATUSES) } } as const satisfies Reasons;

export const statusMessage: RejectionTexts<typeof statusReason> = {
  wrong_status: ({ status }) => `The bank account is ${STATUS_WORDS[status]}: this is not possible.`,
};

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

/** What the declarations have in common. */
export const ON_BANK_ACCOUNT = {
  path: accountPath,
  input: z.object({}),
  rejections: statusReason,
  messages: statusMessage,
  load: (needs: BankAccountNeeds, scope: Scope, { bankAccountId }: z.output<typeof accountPath>) =>
    findBankAccount(needs, bankAccountId, scope === 'all' ? null : scope.merchantId),
  target: ({ subject }: ActOn<BankAccount, unknown>) => subject.id,
} as const;

/** For the form of a member. The attempt of an operator is in the audit log, so the act itself rejects it. */
export function statusAllows(name: BankAccountTransitionName) {
  const from: readonly BankAccountStatus[] = BANK_ACCOUNT_TRANSITIONS[name].from;
  return ({ status }: BankAccount, by: Person) =>
    by.kind !== 'merchant_user' || from.includes(status) ? null : ({ reason: 'wrong_status', status } as const);
}

type BankAccountAct = Pick<Act<BankAccountNeeds, BankAccount, unknown>, 'needs' | 'by' | 'subject' | 'note'>;

export function changeOf({ by, subject: { id, merchantId }, note }: BankAccountAct): BankAccountTransitionInput {
  return { id, merchantId, version: null, at: new Date(), actor: actorText(by), note };
}

/** What the statement has changed, or the status in which it has found the account. */
export async function changedOrStatus(
  { needs: { db }, subject: { id } }: BankAccountAct,
  changed: ChangedBankAccount | undefined,
) {
  if (changed) return done(changed);
  const { status } = await findBankAccount({ db }, id, null);
  return rejected({ reason: 'wrong_status', status });
}
