import { findSealedBankAccount } from '../src/db/payouts/bank-accounts';
import { findPayoutObstacle, findRecordedPayout } from '../src/db/payouts/find-payout';
import { payoutWriters, rebuildPayout } from '../src/db/transitions/payout-transitions';
import { APPROVER_TEXTS, findApproverRejection } from '../src/domain/payout-actions';
import { nextOpening } from '../src/domain/payout-rails';
import { OBSTACLES_WITHOUT_ATTENTION } from '../src/domain/payout-rejections';
import {
  DEFERRAL_TEXTS,
  type PayoutInput,
  type PayoutRequestResult,
  type PayoutStepResult,
} from '../src/domain/payout-step';
import { NUMBER_CHANGED } from './bank-account-number';
import { findReport, NEVER_SENT, prepareCall, recordReport, toResult, toTransitionInput } from './bank-payout';
import type { ActivityDependencies } from './dependencies';
import { inputRejectedError } from './errors';
import { requireSealedTerms, sealPayoutTerms, verifyPayoutTerms, type RecordedPayoutStep } from './payout-terms';
import { permitted } from './step-result';
import { unchecked } from './verify-terms';

interface RequestInput extends PayoutInput {
  /** The workflow's clock, Unix time. */
  readonly atMs: number;
  /** The time of the request is over: it is rejected, unless an attempt has written the row. */
  readonly isOverdue?: true;
}

/**
 * Claims the balance and writes the payout's row, or reads the row that is there. The row decides, whatever the request
 * is: so the same id gets the payout that it has. A lost row is written again.
 */
export async function requestPayout(
  dependencies: ActivityDependencies,
  { payoutId, merchantId, request, lost, atMs, isOverdue }: RequestInput,
): Promise<PayoutRequestResult> {
  const { db, sealer } = dependencies;
  if (request && !isOverdue) {
    const isOwn = request.payoutId === payoutId && request.merchantId === merchantId;
    if (!isOwn) throw inputRejectedError(`the request is not for payout ${payoutId}`);
    const account = await findSealedBankAccount(db, request.bankAccountId);
    if (!account) return { outcome: 'rejected' };
    const sealedTerms = sealPayoutTerms(sealer, request, account.numberHmac);
    const payout = { ...request, sealedTerms, at: new Date(lost?.requestedAtMs ?? atMs) };
    await (lost ? rebuildPayout : payoutWriters.request)(dependencies, payout);
  }
  const recorded = await findRecordedPayout(db, payoutId);
  if (!recorded) {
    if (request) return { outcome: 'rejected' };
    throw new Error(`Payout ${payoutId} is not in the database`);
  }
  const { terms, state } = recorded;
  if (terms.merchantId !== merchantId) throw inputRejectedError(`the merchant has no payout ${payoutId}`);
  return { outcome: 'requested', terms, state };
}
requestPayout.checked = unchecked(requestPayout);

/**
 * By whom the request determined: the workflow itself, another member, or an operator. A payout that the bank may have
 * is approved by the workflow, because it is not sent.
 */
export async function approvePayout(
  dependencies: ActivityDependencies,
  request: RecordedPayoutStep,
): Promise<PayoutStepResult> {
  const { state, by, recorded } = request;
  const isNotSent = by === undefined && mayBeAtBank(request);
  const rejection = isNotSent
    ? null
    : findApproverRejection(recorded.terms.approvalKind, by?.name, recorded.requestedBy);
  if (rejection !== null) return { state, rejection: APPROVER_TEXTS[rejection] };
  return permitted(request, async () =>
    toResult(await payoutWriters.approve(dependencies, toTransitionInput(request))),
  );
}
approvePayout.checked = verifyPayoutTerms(approvePayout);

/** Whether PostgreSQL may have lost that it was sent. */
function mayBeAtBank({ wasSubmitted, recorded }: RecordedPayoutStep): boolean {
  return wasSubmitted ?? recorded.isOlderThanRecovery;
}

/** The money of a payout that may be at the bank is not released, because the next payout would pay it again. */
const MAY_BE_AT_BANK = {
  rejection: 'The bank may have received it already. It is not cancelled before the bank is asked.',
  attentionReason: 'PostgreSQL was restored, and the bank may have received the payout before.',
  mayBeAtBank: true,
} as const;

/** Releases the money of a payout that the bank has not received, also before a restore of PostgreSQL. */
export async function cancelPayout(
  dependencies: ActivityDependencies,
  request: RecordedPayoutStep,
): Promise<PayoutStepResult> {
  const { state, wasSubmitted } = request;
  if (wasSubmitted) return { state, ...MAY_BE_AT_BANK };
  const transition = state.status === 'requested' ? 'cancel_request' : 'cancel';
  const cancelled = await payoutWriters[transition](dependencies, toTransitionInput(request));
  return cancelled.outcome === 'deferred' ? { state, ...MAY_BE_AT_BANK } : toResult(cancelled);
}
cancelPayout.checked = verifyPayoutTerms(cancelPayout);

/**
 * Records the permission for one call to the bank, and makes it. Only the attempt that has recorded the permission
 * makes the call: any other attempt leaves the payout to the status queries. If the worker stops between the two, the
 * bank never receives the payout, and an operator decides. A payout that PostgreSQL may have lost the submission of is
 * only recorded as submitted.
 */
export async function submitPayout(
  dependencies: ActivityDependencies,
  request: RecordedPayoutStep,
): Promise<PayoutStepResult> {
  const { recorded, state, atMs } = request;
  const input = toTransitionInput(request);
  if (mayBeAtBank(request)) {
    return toResult(await payoutWriters.submit(dependencies, { ...input, makesCall: false }));
  }
  requireSealedTerms(dependencies.sealer, recorded);
  // The attempt may be much later than the step that requested it.
  const nowMs = Math.max(atMs, Date.now());
  const opensAtMs = nextOpening(recorded, new Date(nowMs), recorded.holidays).getTime();
  if (opensAtMs > nowMs) return { state, deferral: { obstacle: 'rail_closed', untilMs: opensAtMs } };
  const call = await prepareCall(dependencies, recorded);
  if (!call) return { state, attentionReason: NUMBER_CHANGED };
  const submitted = await payoutWriters.submit(dependencies, { ...input, makesCall: true });
  if (submitted.outcome === 'deferred') return deferSubmit(dependencies, request);
  return submitted.outcome === 'applied' ? call(submitted.state, 1) : toResult(submitted);
}
submitPayout.checked = verifyPayoutTerms(submitPayout);

async function deferSubmit(
  { db }: ActivityDependencies,
  { terms, state, atMs }: RecordedPayoutStep,
): Promise<PayoutStepResult> {
  const found = await findPayoutObstacle(db, terms.payoutId, new Date(atMs));
  // It has ended meanwhile: the next attempt comes immediately.
  if (!found) return { state, deferral: { obstacle: 'cooling_down', untilMs: atMs } };
  const { obstacle, until } = found;
  const needsAttention = !OBSTACLES_WITHOUT_ATTENTION.includes(obstacle);
  return {
    state,
    deferral: { obstacle, ...(until && { untilMs: until.getTime() }) },
    ...(needsAttention && { attentionReason: `It waits for ${DEFERRAL_TEXTS[obstacle]}.` }),
  };
}

/**
 * Compares the workflow with the row. If they agree, queries the bank, and records what its status means for the
 * payout. One that is only requested is not at the bank.
 */
export async function syncPayout(
  dependencies: ActivityDependencies,
  request: RecordedPayoutStep,
): Promise<PayoutStepResult> {
  const { recorded } = request;
  const { state } = recorded;
  if (state.version !== request.state.version) return toResult({ outcome: 'superseded', state });
  if (state.status === 'requested') return { state };
  return recordReport(dependencies, { ...request, state }, await findReport(dependencies, recorded));
}
syncPayout.checked = verifyPayoutTerms(syncPayout);

/**
 * An operator permits one more call, with the same reference. Only if the bank does not know the payout, so late that
 * it cannot have it any more, and so early that it would reject a reference that it knows.
 */
export async function resendPayout(
  dependencies: ActivityDependencies,
  request: RecordedPayoutStep,
): Promise<PayoutStepResult> {
  const { recorded, state } = request;
  requireSealedTerms(dependencies.sealer, recorded);
  const rejection = await resendRejection(dependencies, request);
  if (rejection !== null) return { state, rejection };
  const call = await prepareCall(dependencies, recorded);
  if (!call) return { state, rejection: NUMBER_CHANGED, attentionReason: NUMBER_CHANGED };
  return permitted(request, async () => {
    const resent = await payoutWriters.resend(dependencies, toTransitionInput(request));
    if (resent.outcome === 'deferred') return { state, rejection: await deferralOf(dependencies, request) };
    return resent.outcome === 'applied' ? call(resent.state, recorded.sendCount + 1) : toResult(resent);
  });
}
resendPayout.checked = verifyPayoutTerms(resendPayout);

async function deferralOf({ db }: ActivityDependencies, { terms, atMs }: RecordedPayoutStep): Promise<string> {
  const found = await findPayoutObstacle(db, terms.payoutId, new Date(atMs));
  return found ? `Not now: it waits for ${DEFERRAL_TEXTS[found.obstacle]}.` : 'Not now: request it again.';
}

async function resendRejection(
  dependencies: ActivityDependencies,
  { recorded, atMs }: RecordedPayoutStep,
): Promise<string | null> {
  if (recorded.isOlderThanRecovery) return NEVER_SENT;
  const { outcome: report, waits, mayRepeatForMs } = await findReport(dependencies, recorded);
  if (report.outcome === 'indeterminate') return `The bank's status is indeterminate: ${report.reason}.`;
  if (report.outcome === 'found') return `The bank has the payout: it is ${report.payout.status}.`;
  if (recorded.sendOutcome === 'accepted') return 'The bank has accepted it. Ask the bank, and resolve it.';
  const { state, submittedAt } = recorded;
  const allowedAtMs = (state.lastSentAtMs ?? atMs) + waits.notFoundMs;
  if (atMs < allowedAtMs) return `The bank may still receive it until ${new Date(allowedAtMs).toISOString()}.`;
  const isKept = Math.max(atMs, Date.now()) < (submittedAt?.getTime() ?? atMs) + mayRepeatForMs;
  return isKept ? null : 'It is too old: the bank might not recognise its reference.';
}

/** The transition of each resolution, by the status that it leaves. */
const RESOLUTIONS = {
  submitted: { completed: 'resolve_as_completed', failed: 'resolve_as_failed', returned: null },
  completed: { completed: null, failed: null, returned: 'resolve_as_returned' },
  failed: { completed: 'resolve_failed_as_completed', failed: null, returned: null },
} as const;

/** An operator records what another source than the bank's status proves, such as a bank statement. */
export async function resolvePayout(
  dependencies: ActivityDependencies,
  request: RecordedPayoutStep,
): Promise<PayoutStepResult> {
  const { state, resolution, by } = request;
  const { status } = state;
  const isResolvable = status === 'submitted' || status === 'completed' || status === 'failed';
  const name = isResolvable && resolution ? RESOLUTIONS[status][resolution] : null;
  if (name === null) return { state, rejection: `A payout that is "${status}" cannot be resolved so.` };
  const input = toTransitionInput(request);
  const failure = { failureKind: 'other', reason: by?.note ?? 'resolved by an operator' } as const;
  return permitted(request, async () =>
    toResult(
      name === 'resolve_as_failed'
        ? await payoutWriters.resolve_as_failed(dependencies, { ...input, ...failure })
        : await payoutWriters[name](dependencies, input),
    ),
  );
}
resolvePayout.checked = verifyPayoutTerms(resolvePayout);
