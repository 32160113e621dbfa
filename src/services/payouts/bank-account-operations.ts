import type { Queryable } from '../../db/connection/pool';
import {
  findBankAccountRow,
  listBankAccountSteps,
  listSameNumberMerchants,
  type BankAccountStep,
} from '../../db/payouts/bank-accounts';
import {
  changeBankAccount,
  stopBankAccount,
  type ChangedBankAccount,
} from '../../db/transitions/bank-account-transitions';
import { actorText, type OperatorActor } from '../../domain/actor';
import { describeAccount } from '../../domain/banks';
import { DeclaredAction } from '../../domain/declared-action';
import { ConflictError } from '../../errors';
import type { Logger } from '../../observability/logger';
import { withAudit, type AuditDependencies } from '../audit/audit';
import { requireApproval } from '../audit/request-approval';
import {
  findBankAccount,
  proposeAccount,
  requireChanged,
  type AddDependencies,
  type BankAccount,
  type BankAccountDependencies,
  type ProposedBankAccount,
  type StartInquiry,
} from './bank-accounts';

/** A bank account with its history, for operators. */
export interface BankAccountDetails extends BankAccount {
  /** Other merchants that had the same account at the inquiry. */
  readonly sameNumberMerchants: readonly string[];
  readonly steps: readonly BankAccountStep[];
}

/** An account, and the note of the operator. */
interface OperatorRequest {
  readonly id: string;
  readonly note: string;
}

export const SHOW_BANK_ACCOUNT = new DeclaredAction('bank_account.show');

/** Shows the holder's name, so the audit log records it. @throws NotFoundError if there is no such account */
export function showBankAccount(
  dependencies: BankAccountDependencies & AuditDependencies,
  actor: OperatorActor,
  { id, note }: OperatorRequest,
): Promise<BankAccountDetails> {
  const action = { action: SHOW_BANK_ACCOUNT, target: id, note };
  return withAudit(dependencies, actor, action, () => readDetails(dependencies, id));
}

async function readDetails(dependencies: BankAccountDependencies, id: string): Promise<BankAccountDetails> {
  const { db } = dependencies;
  const account = await findBankAccount(dependencies, id, null);
  const [sameNumberMerchants, steps] = await Promise.all([
    listSameNumberMerchants(db, id),
    listBankAccountSteps(db, id),
  ]);
  return { ...account, sameNumberMerchants, steps };
}

type OperatorAddDependencies = Omit<AddDependencies, 'log'> & { readonly log: Pick<Logger, 'error' | 'warn'> };

export const ADD_BANK_ACCOUNT = new DeclaredAction('bank_account.add');

/** Adds an account for a merchant. Errors: as `addBankAccount`. The number is in no row of the audit log. */
export async function addBankAccountByOperator(
  dependencies: OperatorAddDependencies,
  actor: OperatorActor,
  merchantId: string,
  proposed: ProposedBankAccount,
  note: string,
): Promise<void> {
  const detail = JSON.stringify({ merchantId, bankCode: proposed.bankCode, lastFour: proposed.number.slice(-4) });
  const action = { action: ADD_BANK_ACCOUNT, target: proposed.id, note, detail };
  const proposal = { merchantId, actor: actorText(actor), at: new Date(), note };
  await withAudit(dependencies, actor, action, () => proposeAccount(dependencies, proposal, proposed));
}

export const VERIFY_BANK_ACCOUNT = new DeclaredAction('bank_account.verify');

/** Asks the bank for the holder again, and waits for the result. @throws NotFoundError if there is no such account */
export async function verifyBankAccountByOperator(
  dependencies: BankAccountDependencies & AuditDependencies & { readonly startInquiry: StartInquiry },
  actor: OperatorActor,
  { id, note }: OperatorRequest,
): Promise<BankAccountDetails> {
  const { merchantId } = await findBankAccount(dependencies, id, null);
  return withAudit(dependencies, actor, { action: VERIFY_BANK_ACCOUNT, target: id, note }, async () => {
    await dependencies.startInquiry({ bankAccountId: id, merchantId });
    return readDetails(dependencies, id);
  });
}

export const REJECT_BANK_ACCOUNT = new DeclaredAction('bank_account.reject');

/**
 * Rejects a proposal. The merchant sees the note.
 * @throws NotFoundError if there is no such account
 * @throws ConflictError `not_allowed` if it is no proposal
 */
export function rejectBankAccount(
  dependencies: AuditDependencies,
  actor: OperatorActor,
  request: OperatorRequest,
): Promise<ChangedBankAccount> {
  return stopAccount(dependencies, actor, request, { action: REJECT_BANK_ACCOUNT, name: 'reject' });
}

export const SUSPEND_BANK_ACCOUNT = new DeclaredAction('bank_account.suspend');

/** Stops payouts to the account in use. The merchant sees the note. Errors: as `rejectBankAccount`. */
export function suspendBankAccount(
  dependencies: AuditDependencies,
  actor: OperatorActor,
  request: OperatorRequest,
): Promise<ChangedBankAccount> {
  return stopAccount(dependencies, actor, request, { action: SUSPEND_BANK_ACCOUNT, name: 'suspend' });
}

function stopAccount(
  dependencies: AuditDependencies,
  actor: OperatorActor,
  { id, note }: OperatorRequest,
  { action, name }: { readonly action: DeclaredAction; readonly name: 'reject' | 'suspend' },
): Promise<ChangedBankAccount> {
  const { db } = dependencies;
  return withAudit(dependencies, actor, { action, target: id, note }, async () => {
    const change = { ...anyVersion(id, actor), note };
    return requireChanged(db, await stopBankAccount(db, name, change, note), { id, merchantId: null });
  });
}

export const DISABLE_BANK_ACCOUNT = new DeclaredAction('bank_account.disable');

/** Ends the account in use, for good. Errors: as `rejectBankAccount`. */
export function disableBankAccountByOperator(
  dependencies: AuditDependencies,
  actor: OperatorActor,
  { id, note }: OperatorRequest,
): Promise<ChangedBankAccount> {
  const { db } = dependencies;
  return withAudit(dependencies, actor, { action: DISABLE_BANK_ACCOUNT, target: id, note }, async () => {
    const changed = await changeBankAccount(db, 'disable', { ...anyVersion(id, actor), note });
    return requireChanged(db, changed, { id, merchantId: null });
  });
}

function anyVersion(id: string, actor: OperatorActor) {
  return { id, merchantId: null, version: null, at: new Date(), actor: actorText(actor) } as const;
}

/** What a second operator approves: this account in this version, as both operators have seen it. */
export interface ApprovedBankAccount {
  readonly bankAccountId: string;
  readonly version: number;
}

export const APPROVE_BANK_ACCOUNT = new DeclaredAction('bank_account.approve');

/**
 * Requests the approval in production, and approves immediately in a sandbox.
 * @param confirmedName the holder's name as the operator read it: required unless the names are the same
 * @throws ConflictError `approval_required` with the id of the request
 * @throws ConflictError `not_allowed` if the account does not wait for it, or waits for a second member;
 * `name_not_confirmed` if the names differ
 */
export async function approveBankAccount(
  dependencies: BankAccountDependencies & AuditDependencies,
  actor: OperatorActor,
  { id, note, confirmedName }: OperatorRequest & { readonly confirmedName?: string | undefined },
): Promise<ChangedBankAccount> {
  const account = await findBankAccount(dependencies, id, null);
  requireSecondMember(account);
  requireConfirmedName(account, confirmedName);
  return requestApproved(dependencies, actor, account, 'approve', note);
}

/** A trigger has the same rule. */
function requireSecondMember({ waitsForMember }: BankAccount): void {
  if (!waitsForMember) return;
  throw new ConflictError('not_allowed', 'A second member of the merchant has to confirm this account first.');
}

/** If the names differ, an operator has to repeat what the bank reports. */
function requireConfirmedName({ id, nameMatch, holderName, status }: BankAccount, confirmedName?: string): void {
  if (status !== 'pending_approval' || nameMatch === 'same' || confirmedName === holderName) return;
  const text = `The bank's name is ${nameMatch ?? 'unknown'}, not the same: repeat it exactly as the bank reports it.`;
  throw new ConflictError('name_not_confirmed', text, { accountId: id });
}

export const REACTIVATE_BANK_ACCOUNT = new DeclaredAction('bank_account.reactivate');

/**
 * A suspended account receives payouts again, after a new cool-down. It needs an inquiry of the last 24 hours.
 * Errors: as `approveBankAccount`.
 */
export async function reactivateBankAccount(
  dependencies: BankAccountDependencies & AuditDependencies,
  actor: OperatorActor,
  { id, note }: OperatorRequest,
): Promise<ChangedBankAccount> {
  const account = await findBankAccount(dependencies, id, null);
  return requestApproved(dependencies, actor, account, 'reactivate', note);
}

type ApprovedChange = 'approve' | 'reactivate';

const APPROVED_ACTIONS = {
  approve: APPROVE_BANK_ACCOUNT,
  reactivate: REACTIVATE_BANK_ACCOUNT,
} as const satisfies Record<ApprovedChange, DeclaredAction>;

async function requestApproved(
  dependencies: AuditDependencies,
  actor: OperatorActor,
  account: BankAccount,
  name: ApprovedChange,
  note: string,
): Promise<ChangedBankAccount> {
  const parameters = { bankAccountId: account.id, version: account.version };
  const request = { action: `bank_account.${name}`, target: targetOf(account), parameters } as const;
  await requireApproval(dependencies, actor, request, note);
  return withAudit(dependencies, actor, { action: APPROVED_ACTIONS[name], target: account.id, note }, () =>
    executeApproval(dependencies.db, actor, name, parameters, note),
  );
}

/** Whose account it is, and both names: both operators of an approval read it. */
function targetOf({ id, merchantName, bankCode, lastFour }: BankAccount): string {
  return `${describeAccount(bankCode, lastFour)} of ${merchantName}, account ${id}`;
}

/**
 * Executes what was approved.
 * @throws ConflictError `not_allowed` if the account has changed since, or has no inquiry of the last 24 hours
 */
export async function executeApproval(
  db: Queryable,
  actor: OperatorActor,
  name: ApprovedChange,
  { bankAccountId: id, version }: ApprovedBankAccount,
  note: string,
): Promise<ChangedBankAccount> {
  const change = { id, merchantId: null, version, at: new Date(), actor: actorText(actor), note } as const;
  const changed = await changeBankAccount(db, name, change);
  if (changed) return changed;
  const account = await findBankAccountRow(db, id, null);
  if (name === 'reactivate' && account?.status === 'suspended' && account.version === version) {
    throw new ConflictError('not_allowed', 'Ask the bank for its holder first: the last name is older than 24 hours.');
  }
  return requireChanged(db, undefined, { id, merchantId: null });
}
