import type { TransitionContext } from '../src/db/transitions/apply-transition';
import { transitionWriters } from '../src/db/transitions/payment-transitions';
import type { StepActor } from '../src/domain/actor';
import { formatRupiah } from '../src/domain/money';
import { refundKeyOf, refundNumberOfKey } from '../src/domain/refund';
import type { StepInput, StepResult } from '../src/domain/workflow-step';
import type { FindPaymentOutcome, OrderKey, Provider, RefundRequest } from '../src/providers/provider';
import { providerDeadline } from './provider-deadline';
import { RECOVERY_MODE, toStepResult, toTransitionInput } from './step-result';

/**
 * The refunds of an order at the provider, whatever their keys: a refund that is recorded as rejected may have been
 * executed, or the merchant refunded in the provider's dashboard. `pending`: accepted, and not confirmed by the bank.
 */
export type ProviderRefundStatus =
  | { readonly status: 'refunded'; readonly providerReference: string | null; readonly refundKey: string | null }
  | { readonly status: 'pending'; readonly refundKey: string | null }
  | { readonly status: 'none' }
  | { readonly status: 'indeterminate'; readonly reason: string };

export function classifyProviderRefund(totalRupiah: number, found: FindPaymentOutcome): ProviderRefundStatus {
  if (found.outcome === 'indeterminate') return { status: 'indeterminate', reason: found.reason };
  if (found.outcome === 'not_found') return { status: 'indeterminate', reason: 'it does not have the order' };
  const { status, refunds } = found.payment;
  const confirmed = refunds.findLast((refund) => refund.confirmedAt !== null);
  if (status === 'refunded') {
    const { providerReference = null, refundKey = null } = confirmed ?? {};
    return { status: 'refunded', providerReference, refundKey };
  }
  if (status !== 'paid') return { status: 'indeterminate', reason: `it has the order as "${status}"` };
  if (refunds.length === 0) return { status: 'none' };
  const acceptedRupiah = refunds.reduce((sum, refund) => sum + refund.totalRupiah, 0);
  if (acceptedRupiah >= totalRupiah) return { status: 'pending', refundKey: refunds.at(-1)?.refundKey ?? null };
  const amounts = `${formatRupiah(acceptedRupiah)} of ${formatRupiah(totalRupiah)}`;
  return { status: 'indeterminate', reason: `it has refunded ${amounts}` };
}

export async function fetchRefundStatus(
  provider: Provider,
  order: OrderKey,
  totalRupiah: number,
): Promise<ProviderRefundStatus> {
  return classifyProviderRefund(totalRupiah, await provider.findPayment(order, providerDeadline()));
}

type ExecutedRefund =
  Exclude<ProviderRefundStatus, { readonly status: 'none' }> | { readonly status: 'rejected'; readonly reason: string };

/**
 * The status of a refund that Lunas has only seen at the provider. It was not requested here, so Lunas never
 * requests it: an operator decides if the provider lists it no more.
 */
export async function followRefund(provider: Provider, request: RefundRequest): Promise<ExecutedRefund> {
  const found = await fetchRefundStatus(provider, request, request.totalRupiah);
  if (found.status !== 'none') return found;
  return { status: 'rejected', reason: 'the provider does not list its refund any more' };
}

/**
 * Executes a refund at the provider once. Only if the order has no refund is one requested, always under the same key.
 * A refund is final only by the order's status: confirmed by the bank, or rejected and not in the status.
 */
export async function executeRefund(
  provider: Provider,
  request: RefundRequest,
  isRecovering: () => Promise<boolean>,
): Promise<ExecutedRefund> {
  const before = await fetchRefundStatus(provider, request, request.totalRupiah);
  if (before.status !== 'none') return before;
  if (await isRecovering()) return { status: 'indeterminate', reason: RECOVERY_MODE };
  const requested = await provider.refundPayment(request, providerDeadline());
  if (requested.outcome === 'indeterminate') return { status: 'indeterminate', reason: requested.reason };
  const after = await fetchRefundStatus(provider, request, request.totalRupiah);
  if (after.status !== 'none') return after;
  return requested.outcome === 'accepted'
    ? { status: 'indeterminate', reason: 'it accepted the refund, but does not show it' }
    : { status: 'rejected', reason: requested.reason };
}

const BY_PROVIDER: StepActor = { name: 'provider', note: 'the provider has a refund that was not recorded' };

/**
 * Opens a refund that the provider has and PostgreSQL has not: the merchant made it in the provider's dashboard, or
 * PostgreSQL was restored to an earlier time. So the merchant is not paid for it. The next steps find it confirmed.
 * @param refundKey at the provider; a refund of ours keeps its number
 */
export async function recordProviderRefund(
  context: TransitionContext,
  request: StepInput,
  refundKey: string | null,
): Promise<StepResult> {
  const { terms, state } = request;
  const transition = state.status === 'refund_failed' ? 'retry_refund' : 'request_refund';
  const refund = nextRefund(request, refundNumberOfKey(terms.referenceId, refundKey));
  const input = {
    ...toTransitionInput({ ...request, by: BY_PROVIDER }),
    ...refund,
    holdSeconds: 0,
    requestedBy: 'provider' as const,
  };
  return toStepResult(await transitionWriters[transition](context, input));
}

export function nextRefund({ terms, state }: StepInput, minNumber = 1) {
  const refundNumber = Math.max((state.refund?.number ?? 0) + 1, minNumber);
  return { refundNumber, refundKey: refundKeyOf(terms.referenceId, refundNumber) };
}
