import { openExceptionOnce } from '../src/db/operations/open-exception';
import { closeNotifications, newestNotification } from '../src/db/payments/notification-inbox';
import type { RecordedPayout } from '../src/db/payouts/find-payout';
import { stopBankAccount } from '../src/db/transitions/bank-account-transitions';
import { recordPayoutSend } from '../src/db/transitions/payout-sends';
import {
  payoutWriters,
  type PayoutTransitionInput,
  type PayoutTransitionResult,
} from '../src/db/transitions/payout-transitions';
import { BANK_COVERED_BY, type FindPayoutOutcome } from '../src/domain/bank-payout';
import { formatRupiah } from '../src/domain/money';
import type { PayoutState } from '../src/domain/payout';
import {
  decidePayout,
  type DecidedTransition,
  type PayoutFailure,
  type PayoutWaits,
  type SubmittedAttention,
} from '../src/domain/payout-decision';
import type { PayoutStepResult } from '../src/domain/payout-step';
import type { PayoutsAccount } from '../src/providers/payout-registry';
import { openNumber } from './bank-account-number';
import type { ActivityDependencies } from './dependencies';
import { indeterminateError } from './errors';
import type { RecordedPayoutStep } from './payout-terms';
import { onlyCallDeadline, providerDeadline } from './provider-deadline';

const [SECOND_MS, DAY_MS] = [1_000, 86_400_000];

/** The bank's report, and what has to be known to compare it. */
export interface BankReport {
  readonly outcome: FindPayoutOutcome;
  readonly waits: PayoutWaits;
  /** The time after the submission for which the bank rejects a reference that it knows, twice over. */
  readonly mayRepeatForMs: number;
  /** Read before the query that covers it. */
  readonly newestNotification: number | null;
}

/** Queries the status of a payout at the bank that it was sent to. */
export async function findReport(dependencies: ActivityDependencies, recorded: RecordedPayout): Promise<BankReport> {
  const { terms, bankReference } = recorded;
  const { provider, profile } = await accountOf(dependencies, recorded);
  const newest = await newestNotification(dependencies.db, terms);
  // The day of a call before a restore is not known, and the bank would look for another one.
  const submittedAt = recorded.isOlderThanRecovery ? null : recorded.submittedAt;
  const key = { referenceId: terms.referenceId, bankReference, submittedAt };
  return {
    outcome: await provider.findPayout(key, providerDeadline()),
    waits: {
      statusNotBeforeMs: statusNotBeforeMs(dependencies, profile),
      notFoundMs: recorded.notFoundSeconds * SECOND_MS,
      expectedWithinMs: recorded.expectedWithinSeconds * SECOND_MS,
    },
    mayRepeatForMs: (profile.referenceKeptForDays / 2) * DAY_MS,
    newestNotification: newest,
  };
}

async function accountOf({ payouts }: ActivityDependencies, { terms }: RecordedPayout): Promise<PayoutsAccount> {
  const account = await payouts.findAccount(terms.providerAccountId);
  if (!account) throw new Error(`There is no payouts account ${terms.providerAccountId}`);
  return account;
}

/** The sandbox's bank knows a payout immediately. */
function statusNotBeforeMs({ environment }: ActivityDependencies, profile: PayoutsAccount['profile']): number {
  return environment === 'production' ? profile.statusNotBeforeSeconds * SECOND_MS : 0;
}

/** Makes the call that a permission allows, and records the bank's response. It is called once for each permission. */
type PermittedCall = (permitted: PayoutState, sendCount: number) => Promise<PayoutStepResult>;

/**
 * Everything that a call to the bank needs, before its permission is recorded: after that nothing may fail before the
 * call. Nothing of the number leaves this function.
 * @returns undefined if the number is not the one that was proposed: no call is permitted
 */
export async function prepareCall(
  dependencies: ActivityDependencies,
  recorded: RecordedPayout,
): Promise<PermittedCall | undefined> {
  const { db, sealer } = dependencies;
  const { terms, bankCode, sealedNumber, sealedHolderName } = recorded;
  const { payoutId, referenceId, merchantId, bankAccountId, amountRupiah } = terms;
  if (sealedNumber === null || sealedHolderName === null) throw new Error(`Payout ${payoutId} has no bank account`);
  const { provider, profile } = await accountOf(dependencies, recorded);
  const { accountLastFour: lastFour, numberHmac } = recorded;
  const bankAccount = { id: bankAccountId, merchantId, bankCode, lastFour, sealedNumber, numberHmac };
  const number = await openNumber(dependencies, bankAccount);
  if (number === undefined) return undefined;
  const holderName = sealer.open(sealedHolderName, ['bank-account-holder', bankAccountId]);
  const order = { referenceId, amountRupiah, holderName, account: { bankCode, number } };
  const deadline = onlyCallDeadline();
  const prepared = await provider.prepareSend(referenceId, deadline);
  if (prepared.outcome === 'indeterminate') throw indeterminateError(prepared);
  return async (permitted, sendCount) => {
    const sentAtMs = permitted.lastSentAtMs ?? Date.now();
    const submittedAt = recorded.submittedAt ?? new Date(sentAtMs);
    const sent = await provider.sendPayout({ ...order, sendNumber: sendCount, submittedAt }, deadline);
    await recordPayoutSend(db, {
      payoutId,
      sendCount,
      outcome: sent.outcome,
      bankReference: sent.outcome === 'accepted' ? sent.bankReference : null,
      failureKind: sent.outcome === 'rejected' ? sent.failureKind : null,
      reason: sent.outcome === 'rejected' ? sent.reason : null,
    });
    return { state: permitted, queryNotBeforeMs: sentAtMs + statusNotBeforeMs(dependencies, profile) };
  };
}

/** Records what the bank's report means. Exceptions come before the transitions: a repeat opens none twice. */
export async function recordReport(
  dependencies: ActivityDependencies,
  request: RecordedPayoutStep,
  { outcome: report, waits, newestNotification: newest }: BankReport,
): Promise<PayoutStepResult> {
  const { recorded, state, atMs } = request;
  const { terms, accountLastFour, sendCount, sendOutcome, failureKind, failureReason } = recorded;
  const isRejected = failureKind !== null && failureReason !== null;
  const compared = {
    status: state.status,
    isManual: recorded.isManual,
    amountRupiah: terms.amountRupiah,
    accountLastFour,
    sendCount,
    sendOutcome,
    sendFailure: isRejected ? { kind: failureKind, reason: failureReason } : null,
    sinceSentMs: state.lastSentAtMs === undefined ? 0 : atMs - state.lastSentAtMs,
  };
  const decision = decidePayout(compared, report, waits);
  if (decision.decision === 'query_again') {
    throw indeterminateError({ outcome: 'indeterminate', reason: decision.reason });
  }
  let result: PayoutStepResult = { state };
  if (decision.decision === 'record') {
    if (decision.exception) await openPayoutException(dependencies, request, report, decision.exception);
    for (const transition of decision.transitions) {
      result = await applyTransition(dependencies, { ...request, ...result }, transition, report);
      if (result.attentionReason !== undefined) return result;
    }
    if (decision.exception) result = { ...result, attentionReason: exceptionText(decision.exception, report) };
  } else if (decision.attention) {
    const isNeverSent = decision.attention === 'not_found' && recorded.isOlderThanRecovery;
    const text = isNeverSent ? `The bank does not know the payout. ${NEVER_SENT}` : ATTENTION_TEXTS[decision.attention];
    result = { state, attentionReason: text };
  }
  const covered = report.outcome === 'found' ? BANK_COVERED_BY[report.payout.status] : [];
  await closeNotifications(dependencies.db, terms, newest, covered);
  return result;
}

/** A payout's money may have left by another payout, which PostgreSQL has lost. */
export const NEVER_SENT = 'It is older than a restore, so it is not sent any more: an operator resolves it.';

const ATTENTION_TEXTS: Readonly<Record<SubmittedAttention, string>> = {
  not_found: 'The bank does not know the payout. An operator can send it again, or resolve it.',
  overdue: 'The bank takes longer than expected.',
};

type PayoutException = 'payout_conflict' | 'payout_amount';

function exceptionText(kind: PayoutException, report: FindPayoutOutcome): string {
  if (kind === 'payout_amount') {
    return 'The bank reports another amount or account than was sent, or no account: ask it, and resolve the payout.';
  }
  return report.outcome === 'found' && report.payout.status === 'failed'
    ? 'The bank reports that a payout failed which operators resolved as completed: ask it which of the two is true.'
    : 'The bank has executed a payout that it should not have.';
}

/** A repeated report opens one exception; one that contradicts another status of the payout opens a second. */
async function openPayoutException(
  { db }: ActivityDependencies,
  { recorded, state }: RecordedPayoutStep,
  report: FindPayoutOutcome,
  kind: PayoutException,
): Promise<void> {
  const { referenceId, providerAccountId } = recorded.terms;
  const reported = report.outcome === 'found' ? report.payout : undefined;
  const amounts = reported
    ? ` It reports ${formatRupiah(reported.amountRupiah)} to •••• ${reported.accountLastFour ?? 'unknown'}.`
    : '';
  const amountRupiah = reported?.amountRupiah ?? null;
  const detail = `${exceptionText(kind, report)} It is "${state.status}" here.${amounts}`;
  await openExceptionOnce(db, { kind, referenceId, providerAccountId, amountRupiah, detail });
}

async function applyTransition(
  dependencies: ActivityDependencies,
  request: RecordedPayoutStep,
  transition: DecidedTransition,
  report: FindPayoutOutcome,
): Promise<PayoutStepResult> {
  const input = toTransitionInput(request);
  const bankReference = report.outcome === 'found' ? report.payout.bankReference : null;
  switch (transition.name) {
    case 'complete':
    case 'complete_failed':
      return toResult(await payoutWriters[transition.name](dependencies, { ...input, bankReference }));
    case 'return':
      return toResult(await payoutWriters.return(dependencies, input));
    case 'fail': {
      const { kind: failureKind, reason } = transition.failure;
      await followFailure(dependencies, request, transition.failure);
      return toResult(await payoutWriters.fail(dependencies, { ...input, failureKind, reason }));
    }
  }
}

/**
 * Stops what would make the next payout fail for the same reason. A repeat does it too: the failure is recorded later.
 */
async function followFailure(
  { db }: ActivityDependencies,
  { recorded, atMs }: RecordedPayoutStep,
  { kind, reason }: PayoutFailure,
): Promise<void> {
  const { bankAccountId, merchantId, referenceId, providerAccountId, amountRupiah } = recorded.terms;
  if (kind === 'account') {
    const change = { id: bankAccountId, merchantId, version: null, at: new Date(atMs), actor: 'workflow' } as const;
    await stopBankAccount(db, 'suspend', change, reason);
  }
  if (kind === 'source_balance') {
    const detail = `Our balance at the bank is too low for a payout: ${reason}.`;
    const order = { referenceId, providerAccountId, amountRupiah };
    await openExceptionOnce(db, { kind: 'payout_source_balance', ...order, detail });
  }
}

export function toTransitionInput({ terms, state, atMs, by }: RecordedPayoutStep): PayoutTransitionInput {
  return { payoutId: terms.payoutId, version: state.version, at: new Date(atMs), ...(by && { by }) };
}

/** If another transition came first, the workflow continues from the state in PostgreSQL, and needs attention. */
export function toResult({ outcome, state }: Pick<PayoutTransitionResult, 'outcome' | 'state'>): PayoutStepResult {
  if (outcome !== 'superseded') return { state };
  const attentionReason = `PostgreSQL had the payout elsewhere: "${state.status}", version ${state.version}.`;
  return { state, attentionReason };
}
