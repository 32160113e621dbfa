import { shopOf } from '../../qris/qris';
import { checkoutStateOf, type CheckoutPayment, type CheckoutState } from './checkout-state';
import type { FactName } from './texts';

export type Fact = readonly [name: FactName, value: string | Date];

/** After these, the customer has something to keep. */
const RECEIPT_STATES: ReadonlySet<CheckoutState> = new Set(['paid', 'refund_processing', 'refund_failed', 'refunded']);

export function hasReceipt(payment: Pick<CheckoutPayment, 'status' | 'expiresAt'>, nowMs: number): boolean {
  return RECEIPT_STATES.has(checkoutStateOf(payment, nowMs));
}

/** What the page and the receipt list about the payment. */
export function factsOf(payment: CheckoutPayment, nowMs: number): Fact[] {
  const { merchantReferenceId, description, paidAt, referenceId } = payment;
  const facts: readonly (Fact | null)[] = [
    merchantReferenceId === null ? null : ['order', merchantReferenceId],
    description === null ? null : ['description', description],
    paidAt !== null && hasReceipt(payment, nowMs) ? ['paid', paidAt] : null,
    ...endOf(payment, checkoutStateOf(payment, nowMs)),
    ...(hasReceipt(payment, nowMs) ? shopFacts(payment) : []),
    ['reference', referenceId],
  ];
  return facts.filter((fact) => fact !== null);
}

/** The shop as the app of the customer has recorded it. */
function shopFacts({ qrisPayload }: CheckoutPayment): Fact[] {
  const shop = shopOf(qrisPayload);
  if (shop === null) return [];
  return [['shop', shop.merchantName], ...(shop.nmid === null ? [] : [['nmid', shop.nmid] as const])];
}

/** The time of the end. */
function endOf({ expiresAt, updatedAt }: CheckoutPayment, state: CheckoutState): Fact[] {
  switch (state) {
    case 'refunded':
      return [['refunded', updatedAt]];
    case 'checking':
    case 'expired':
      return [['expired', expiresAt]];
    case 'cancelled':
    case 'failed':
      return [[state, updatedAt]];
    default:
      return [];
  }
}
