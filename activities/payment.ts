import { stopProviderAccount } from '../src/db/operations/stop-provider-account';
import { findCreationResult } from '../src/db/payments/find-creation-result';
import type { TransitionResult } from '../src/db/transitions/apply-payment-transition';
import { transitionWriters } from '../src/db/transitions/payment-transitions';
import { OPERATOR_STEPS } from '../src/domain/operator-steps';
import { expiryOf, type PaymentTerms } from '../src/domain/payment';
import { isFinal } from '../src/domain/payment-transitions';
import type { CreationResult, StepInput, StepResult } from '../src/domain/workflow-step';
import { codeOf } from '../src/errors';
import { noteOrder } from '../src/providers/calls/rejected-merchants';
import type { IssueQrisOutcome, Provider, ProviderPayment, Rejected, Unusable } from '../src/providers/provider';
import { changedAmount } from '../src/providers/validate-qris';
import type { ActivityDependencies } from './dependencies';
import { indeterminateError, inputRejectedError, orderStillOpenError } from './errors';
import { providerDeadline } from './provider-deadline';
import {
  applyProviderStatus,
  failAndQueryAgain,
  findOrder,
  orderKeyOf,
  requestLatePaymentQuery,
} from './provider-status';
import { deferred, keepState, permitted, RECOVERY_MODE, toStepResult, toTransitionInput } from './step-result';
import { requireRecordedTerms, unchecked, verifySettlement, verifyStep, type VerifiedStep } from './verify-terms';

/**
 * Writes the payment as `created`, requests its QR code from the provider, and records `pending` or `failed`. If an
 * earlier attempt may have reached the provider, the order is queried first. It compares the terms itself, once there
 * is a row.
 */
export async function openPayment(dependencies: ActivityDependencies, request: StepInput): Promise<StepResult> {
  const created = await create(dependencies, request);
  if (created.state.status !== 'created') return withCreationResult(dependencies, request, created);

  const { terms } = request;
  const provider = await dependencies.providers.forAccount(terms.providerAccountId);
  const earlier = created.outcome === 'repeated' ? await findIssued(provider, request) : undefined;
  const outcome = earlier ?? (await issue(provider, request));
  // The merchant has the time of a response that PostgreSQL has lost.
  const atMs = (earlier && request.creation?.atMs) ?? request.atMs;
  return recordIssued(dependencies, { ...request, state: created.state, atMs }, outcome);
}
openPayment.checked = unchecked(openPayment);

/** SQLSTATE of Lunas: the trigger `own_account` rejects the payment. */
const FOREIGN_ACCOUNT = 'LN002';

/** Writes the payment's row. A row that exists already must have the same terms. */
async function create(dependencies: ActivityDependencies, request: StepInput): Promise<TransitionResult> {
  const created = await transitionWriters.create(dependencies, request).catch((error: unknown) => {
    if (codeOf(error) !== FOREIGN_ACCOUNT) throw error;
    throw inputRejectedError(`payment ${request.terms.paymentId} has the account of another merchant`);
  });
  if (created.outcome === 'repeated') await requireRecordedTerms(dependencies.db, request.terms);
  return created;
}

/**
 * The outcome of an earlier attempt that is not recorded. Undefined if the provider has no order, or its payload is
 * lost. Then another request is safe: the provider recognises the order and the idempotency key. The merchant may
 * have the result of the creation already, and PostgreSQL have lost it: then the workflow still has it.
 */
async function findIssued(provider: Provider, { terms, creation }: StepInput): Promise<IssueQrisOutcome | undefined> {
  if (creation?.outcome === 'rejected') return creation;
  const order = await findOrder(provider, { terms, issuedTransactionId: creation?.providerTransactionId ?? null });
  if (!order) return undefined;
  const { status, totalRupiah, providerTransactionId } = order;
  const qrisPayload = order.qrisPayload ?? issuedPayload(creation, order);
  if (totalRupiah !== terms.totalRupiah) {
    const changed = changedAmount('the order', totalRupiah, terms.totalRupiah);
    if (status === 'pending') return { outcome: 'unusable', ...changed };
    throw indeterminateError({ outcome: 'indeterminate', reason: changed.reason });
  }
  if (status === 'denied') return { outcome: 'rejected', reason: 'the provider denied the order' };
  return qrisPayload === null ? undefined : { outcome: 'accepted', providerTransactionId, qrisPayload };
}

/** The payload of this order as the workflow has it; null if it has none, or that of another transaction. */
function issuedPayload(creation: CreationResult | undefined, order: ProviderPayment): string | null {
  const isSame = creation?.outcome === 'issued' && creation.providerTransactionId === order.providerTransactionId;
  return isSame ? creation.qrisPayload : null;
}

function issue(provider: Provider, { terms, createdAtMs }: StepInput): Promise<IssueQrisOutcome> {
  const { provider: name, referenceId, totalRupiah } = terms;
  const [createdAt, expiresAt] = [new Date(createdAtMs), new Date(expiryOf(createdAtMs, terms))];
  return provider.issueQris({ provider: name, referenceId, totalRupiah, createdAt, expiresAt }, providerDeadline());
}

async function recordIssued(
  dependencies: ActivityDependencies,
  request: StepInput,
  outcome: IssueQrisOutcome,
): Promise<StepResult> {
  if (outcome.outcome !== 'indeterminate') noteOrder(request.terms, outcome.outcome);
  switch (outcome.outcome) {
    case 'accepted': {
      const { providerTransactionId, qrisPayload } = outcome;
      const issued = await transitionWriters.issue(dependencies, { ...toTransitionInput(request), ...outcome });
      const creation = { outcome: 'issued', atMs: request.atMs, providerTransactionId, qrisPayload } as const;
      return withCreationResult(dependencies, request, issued, creation);
    }
    case 'rejected':
      return recordRejected(dependencies, request, outcome);
    case 'unusable':
      return endUnusable(dependencies, request, outcome);
    case 'indeterminate':
      throw indeterminateError(outcome);
  }
}

/** The transition has the acquirer's words if the merchant gets others. */
function recordRejected(
  dependencies: ActivityDependencies,
  request: StepInput,
  { reason, merchantReason }: Rejected,
): Promise<StepResult> {
  if (merchantReason === undefined) return failCreation(dependencies, request, reason);
  return failCreation(dependencies, { ...request, by: { name: 'provider', note: reason } }, merchantReason);
}

const NO_USABLE_QR = 'the provider issued no usable QR code';

/** A repeat would return the same order, so it is closed in this attempt: no customer has its QR. */
async function endUnusable(
  dependencies: ActivityDependencies,
  request: StepInput,
  { reason, stopsAccount }: Unusable,
): Promise<StepResult> {
  const { terms } = request;
  if (stopsAccount) await stopProviderAccount(dependencies.db, terms, { kind: stopsAccount, reason });
  await expireOrder(await dependencies.providers.forAccount(terms.providerAccountId), terms);
  return failCreation(dependencies, { ...request, by: { name: 'provider', note: reason } }, NO_USABLE_QR);
}

async function failCreation(
  dependencies: ActivityDependencies,
  request: StepInput,
  reason: string,
): Promise<StepResult> {
  const failed = await transitionWriters.fail_creation(dependencies, { ...toTransitionInput(request), reason });
  return withCreationResult(dependencies, request, failed, { outcome: 'rejected', atMs: request.atMs, reason });
}

/** Adds the result of the creation, and so to the history: the one just recorded, else the one in PostgreSQL. */
async function withCreationResult(
  { db }: ActivityDependencies,
  { terms }: StepInput,
  recorded: TransitionResult,
  applied?: CreationResult,
): Promise<StepResult> {
  const creation = (recorded.outcome === 'applied' && applied) || (await findCreationResult(db, terms.paymentId));
  return { ...toStepResult(recorded), ...(creation && { creation }) };
}

/**
 * Fails a payment for which the provider issued no QR code in time. The workflow runs it after the last possible call
 * has ended. An order that exists is expired first; the money of a paid order is a late payment. A QR code that the
 * merchant has, and that PostgreSQL has lost, is recorded again instead. It compares the terms as `openPayment` does.
 */
export async function failUnissuedPayment(dependencies: ActivityDependencies, request: StepInput): Promise<StepResult> {
  const { state } = await create(dependencies, request);
  if (state.status !== 'created') return { state };
  const { terms } = request;
  const provider = await dependencies.providers.forAccount(terms.providerAccountId);
  if (request.creation) {
    const issued = await findIssued(provider, request);
    if (issued) return recordIssued(dependencies, { ...request, state, atMs: request.creation.atMs }, issued);
  }
  const order = await findOrder(provider, { terms });
  if (order?.status === 'pending') await expireOrder(provider, terms);
  if (order && isPaidOrder(order)) await requestLatePaymentQuery(dependencies, request);
  return failCreation(dependencies, { ...request, state }, 'the provider did not issue a QR code in time');
}
failUnissuedPayment.checked = unchecked(failUnissuedPayment);

async function expireOrder(provider: Provider, terms: PaymentTerms): Promise<void> {
  const closed = await provider.expirePayment(orderKeyOf({ terms }), providerDeadline());
  if (closed.outcome === 'indeterminate') throw indeterminateError(closed);
  if (closed.outcome === 'rejected') throw orderStillOpenError(closed);
}

function isPaidOrder({ status }: ProviderPayment): boolean {
  return status === 'paid' || status === 'refunded';
}

/** Queries the provider about a pending payment, and records its status. */
export async function confirmPaid(dependencies: ActivityDependencies, request: VerifiedStep): Promise<StepResult> {
  const { terms } = request;
  const provider = await dependencies.providers.forAccount(terms.providerAccountId);
  const order = await findOrder(provider, request);
  if (order) return applyProviderStatus(dependencies, request, order);
  const attentionReason = `The provider does not know this order. ${OPERATOR_STEPS.failPayment}.`;
  return keepState(dependencies, request, { attentionReason });
}
confirmPaid.checked = verifyStep(confirmPaid);

export function expirePayment(dependencies: ActivityDependencies, request: VerifiedStep): Promise<StepResult> {
  return closeOrder(dependencies, request, 'expire');
}
expirePayment.checked = verifyStep(expirePayment);

export function cancelPayment(dependencies: ActivityDependencies, request: VerifiedStep): Promise<StepResult> {
  return closeOrder(dependencies, request, 'cancel');
}
cancelPayment.checked = verifyStep(cancelPayment);

/** Closes an unpaid order at the provider. If the provider rejects that, the order's status decides. */
async function closeOrder(
  dependencies: ActivityDependencies,
  request: VerifiedStep,
  transition: 'expire' | 'cancel',
): Promise<StepResult> {
  const { terms } = request;
  const provider = await dependencies.providers.forAccount(terms.providerAccountId);
  const closed = await provider[`${transition}Payment`](orderKeyOf(request), providerDeadline());
  switch (closed.outcome) {
    case 'accepted':
      return toStepResult(await transitionWriters[transition](dependencies, toTransitionInput(request)));
    case 'rejected':
      return confirmPaid(dependencies, request);
    case 'indeterminate':
      throw indeterminateError(closed);
  }
}

/**
 * If the status at the provider is indeterminate for this long after the deadline, an operator can fail the payment.
 */
const INDETERMINATE_AFTER_DEADLINE_MS = 24 * 3_600_000;

/**
 * An operator fails a payment that no rule ends. The provider's status is recorded first. While the order is pending,
 * or paid with the right amount, the payment does not fail.
 */
export async function failPayment(dependencies: ActivityDependencies, request: VerifiedStep): Promise<StepResult> {
  const { terms, state, atMs, createdAtMs } = request;
  const provider = await dependencies.providers.forAccount(terms.providerAccountId);
  const found = await provider.findPayment(orderKeyOf(request), providerDeadline());
  switch (found.outcome) {
    case 'found':
      return failKnownOrder(dependencies, request, found.payment);
    case 'not_found':
      return fail(dependencies, request, 'the provider does not know the order');
    case 'indeterminate': {
      const allowedAtMs = expiryOf(createdAtMs, terms) + INDETERMINATE_AFTER_DEADLINE_MS;
      if (atMs >= allowedAtMs) {
        return fail(dependencies, request, `the provider's status is indeterminate: ${found.reason}`);
      }
      const until = new Date(allowedAtMs).toISOString();
      const detail = `${found.reason}; allowed from ${until}`;
      return { state, rejection: `The payment cannot be failed: the provider's status is indeterminate (${detail}).` };
    }
  }
}
failPayment.checked = verifyStep(failPayment);

async function failKnownOrder(
  dependencies: ActivityDependencies,
  request: VerifiedStep,
  order: ProviderPayment,
): Promise<StepResult> {
  const { state, terms } = request;
  if (state.status === 'created')
    return { state, rejection: 'The provider has the order: wait until its creation is complete.' };
  if (isPaidOrder(order) && order.totalRupiah !== terms.totalRupiah) {
    return failAndQueryAgain(dependencies, request, 'the provider has it as paid over another amount');
  }
  const applied = await applyProviderStatus(dependencies, request, order);
  if (isFinal(applied.state.status)) return applied;
  return { ...applied, rejection: `The provider has the order as ${order.status}: the payment cannot be failed.` };
}

async function fail(dependencies: ActivityDependencies, request: StepInput, reason: string): Promise<StepResult> {
  if (request.state.status === 'created') {
    // Before the first result of a step, the workflow does not know the version of the row.
    const { state } = await create(dependencies, request);
    if (state.status !== 'created') return { state };
    return failCreation(dependencies, { ...request, state }, reason);
  }
  return toStepResult(await transitionWriters.fail(dependencies, { ...toTransitionInput(request), reason }));
}

/** Makes the net amount of a paid payment available to the merchant. */
export async function settlePayment(dependencies: ActivityDependencies, request: StepInput): Promise<StepResult> {
  if (await dependencies.isRecovering()) return deferred(dependencies, request, { reason: RECOVERY_MODE });
  return permitted(request, async () =>
    toStepResult(await transitionWriters.settle(dependencies, toTransitionInput(request))),
  );
}
settlePayment.checked = verifySettlement(settlePayment);
