import type { Check } from './invariants';
import type { ObservedOrder, ObservedState, TransitionRecord } from './observed-state';

/* I1 to I8: the checks of payments. */

export function* checkPromises({ journal, records }: ObservedState): Generator<Check> {
  const payments = new Map(records.payments.map((payment) => [payment.id, payment]));
  for (const [key, responses] of journal.created()) {
    for (const response of responses) {
      const payment = payments.get(response.id);
      yield payment?.referenceId === response.reference_id
        ? null
        : `${key} got the response ${response.id}, which does not exist`;
      // An idempotent replay is equal byte for byte. In a bulk, an indeterminate payment is `created` at first.
      const first = responses.find(({ status }) => status === response.status);
      yield JSON.stringify(response) === JSON.stringify(first)
        ? null
        : `${key} got two different responses: ${response.id}`;
    }
  }
  for (const key of journal.rejected()) {
    const payment = records.payments.find(({ idempotencyKey }) => idempotencyKey === key);
    yield !payment || payment.status === 'failed'
      ? null
      : `${key} was rejected, and ${payment.id} is ${payment.status}`;
  }
  const taken = new Set(records.transitions.map(({ paymentId, name }) => `${paymentId} ${name}`));
  for (const { id, status } of journal.done('cancel')) {
    const name = status === 'cancelled' ? 'cancel' : 'cancel_refund';
    yield taken.has(`${id} ${name}`) ? null : `a cancel of ${id} got "${status}", and is not in PostgreSQL`;
  }
  for (const { id, status } of journal.done('refund')) {
    yield taken.has(`${id} request_refund`) ? null : `a refund of ${id} got "${status}", and is not in PostgreSQL`;
  }
}

export function* checkCharges({ journal, orders, records }: ObservedState): Generator<Check> {
  for (const [key, responses] of journal.created()) {
    yield new Set(responses.map(({ id }) => id)).size === 1 ? null : `${key} created several payments`;
  }
  const references = new Set(records.payments.map(({ referenceId }) => referenceId));
  for (const order of orders.values()) {
    yield order.charge_calls === 1 ? null : `${order.order_id} was charged ${order.charge_calls} times`;
    yield references.has(order.order_id) ? null : `the provider has ${order.order_id}, which is not in PostgreSQL`;
  }
}

export function* checkRefunds({ orders, records }: ObservedState): Generator<Check> {
  for (const order of orders.values()) {
    const accepted = order.refunds.filter(({ status }) => status !== 'rejected');
    yield accepted.length <= 1 ? null : `${order.order_id} was refunded ${accepted.length} times`;
    for (const { amount } of accepted) {
      yield amount === Number(order.gross_amount)
        ? null
        : `${order.order_id}: ${amount} of ${order.gross_amount} refunded`;
    }
    for (const { refund_key } of order.refunds) {
      yield records.refundKeys.has(refund_key)
        ? null
        : `the provider has the refund ${refund_key}, which was not recorded before`;
    }
  }
}

export function* checkLedger({ records, ledger }: ObservedState): Generator<Check> {
  for (let index = 0; index < ledger.payments; index += 1) yield null;
  for (const { kind, detail, paymentId } of ledger.breaks) yield `${kind} of ${paymentId}: ${detail}`;
  const balances = new Map(records.balances.map((balance) => [balance.paymentId, balance]));
  for (const { id, status, totalRupiah, feeRupiah, netRupiah, late } of records.payments) {
    const { sum = 0, pending = 0, available = 0, receivable = 0, suspense = 0 } = balances.get(id) ?? {};
    yield sum === 0 ? null : `the postings of ${id} are off by ${sum}`;
    const expected = expectedBalances(status, late, { totalRupiah, feeRupiah, netRupiah });
    const found = [pending, available, receivable, suspense].join(' ');
    yield found === expected.join(' ')
      ? null
      : `${id} is ${status}: the ledger has ${found}, not ${expected.join(' ')}`;
  }
}

/** Merchant pending and available, provider receivable, suspense: debit minus credit, so liabilities are negative. */
function expectedBalances(
  status: string,
  late: string | null,
  { totalRupiah, feeRupiah, netRupiah }: { totalRupiah: number; feeRupiah: number; netRupiah: number },
): number[] {
  if (late !== null) return late === 'refunded' ? [0, 0, 0, 0] : [0, 0, totalRupiah, -totalRupiah];
  switch (status) {
    case 'paid':
    case 'refund_processing':
    case 'refund_failed':
      return [-netRupiah, 0, totalRupiah, 0];
    case 'settled':
      return [0, -netRupiah, totalRupiah, 0];
    case 'refunded':
      return [0, feeRupiah, 0, 0];
    default:
      return [0, 0, 0, 0];
  }
}

export function* checkWebhooks({ records, received, receivedBefore }: ObservedState): Generator<Check> {
  const arrived = new Set(
    received.filter(({ responseStatus }) => responseStatus === 200).map(({ deliveryId }) => deliveryId),
  );
  const deliveries = new Map(records.deliveries.map((delivery) => [keyOf(delivery), delivery]));
  yield deliveries.size === records.deliveries.length
    ? null
    : 'a transition has more than one delivery to the endpoint';
  for (const transition of records.transitions) {
    if (transition.from === transition.to) continue;
    const { event, to, paymentId } = transition;
    yield event === `payment.${to}` ? null : `${paymentId} became ${to}, which is the event ${event}`;
    const delivery = deliveries.get(keyOf(transition));
    yield delivery ? null : `${paymentId} became ${to}, without a delivery`;
    if (!delivery) continue;
    // The receiver fails once at most, so no delivery may be dead.
    yield delivery.status === 'dead' ? `the delivery ${delivery.id} is dead` : null;
    yield delivery.isAbandoned
      ? `the delivery ${delivery.id} is pending, and neither leased nor in a retry workflow`
      : null;
    if (delivery.status !== 'delivered') continue;
    yield arrived.has(delivery.id) ? null : `the delivery ${delivery.id} is delivered, but the receiver did not get it`;
  }
  const events = new Map(records.transitions.map((transition) => [keyOf(transition), transition]));
  const known = new Map(records.deliveries.map((delivery) => [delivery.id, events.get(keyOf(delivery))]));
  for (const { deliveryId, event, rawBody, hasValidSignature } of received.slice(0, receivedBefore)) {
    // P6 has those of payouts.
    if (event.startsWith('payout.')) continue;
    yield hasValidSignature ? null : `the delivery ${deliveryId} has an invalid signature`;
    const expected = known.get(deliveryId);
    yield expected?.event === event && expected.body === rawBody
      ? null
      : `the delivery ${deliveryId} does not match its event`;
  }
}

/** From the contract's tables. The submission of a refund to the provider is the one transition to the same status. */
const CONTRACT: ReadonlySet<string> = new Set([
  'null created',
  'created pending',
  'created failed',
  'pending paid',
  'pending expired',
  'pending cancelled',
  'pending failed',
  'paid settled',
  'paid refund_processing',
  'refund_processing refund_processing',
  'refund_processing paid',
  'refund_processing refunded',
  'refund_processing refund_failed',
  'refund_failed refund_processing',
  'refund_failed refunded',
  'refund_failed paid',
]);

export function* checkTransitions({ records }: ObservedState): Generator<Check> {
  let before: TransitionRecord | undefined;
  const last = new Map<string, string>();
  for (const transition of records.transitions) {
    const { paymentId, version, from, to } = transition;
    if (before?.paymentId !== paymentId) before = undefined;
    yield CONTRACT.has(`${from} ${to}`) ? null : `${paymentId} went from ${from} to ${to}`;
    const follows = version === (before?.version ?? 0) + 1 && from === (before?.to ?? null);
    yield follows ? null : `${paymentId} went from ${from} to ${to} after it was ${before?.to}`;
    before = transition;
    last.set(paymentId, to);
  }
  for (const { id, status } of records.payments) {
    yield last.get(id) === status ? null : `${id} is ${status}, and its last transition led to ${last.get(id)}`;
  }
}

/** The provider's status of an order, by the final status of its payment. */
const AT_REST: Readonly<Record<string, readonly string[]>> = {
  settled: ['settlement'],
  refunded: ['refund'],
  cancelled: ['cancel'],
  expired: ['expire'],
  failed: ['none', 'expire', 'cancel'],
};

/** Only after the faults have stopped and every payment is final. */
export function* checkAgreement({ journal, orders, records, workflows }: ObservedState): Generator<Check> {
  const statuses = new Map(records.payments.map(({ id, status }) => [id, status]));
  for (const { id, referenceId, status, late } of records.payments) {
    const order = orders.get(referenceId);
    const providerStatus = order?.status ?? 'none';
    const expected = late === null ? AT_REST[status] : late === 'refunded' ? ['refund'] : ['settlement'];
    yield expected?.includes(providerStatus)
      ? null
      : `${id} is ${status} (late payment: ${late}), and "${providerStatus}" at the provider`;
    yield order && hasOpenRefund(order) ? `${referenceId}: the bank has not confirmed its refund yet` : null;
  }
  for (const { id, type, paymentStatus } of workflows) {
    if (type !== 'payment') continue;
    const status = statuses.get(id.slice('payment-'.length));
    yield status === paymentStatus ? null : `${id} is ${paymentStatus} in its workflow, and ${status} in PostgreSQL`;
  }
  for (const reference of records.openNotifications) yield `a notification for ${reference} is still open`;
  for (const { kind, paymentId } of records.exceptions) {
    // An operator handles late payments that shopeepay cannot refund, and nothing else.
    yield kind === 'late_payment' ? null : `${kind} was opened for ${paymentId}`;
  }
  for (const responses of journal.created().values()) {
    for (const { id } of responses) yield AT_REST[statuses.get(id) ?? ''] ? null : `${id} is still ${statuses.get(id)}`;
  }
}

function hasOpenRefund({ refunds }: ObservedOrder): boolean {
  return refunds.some(({ status }) => status === 'requested');
}

const OPEN_PAYOUTS: ReadonlySet<string> = new Set(['requested', 'approved', 'submitted']);

export function* checkWorkflows({ records, payouts, workflows }: ObservedState): Generator<Check> {
  const open = new Set(payouts.payouts.flatMap(({ id, status }) => (OPEN_PAYOUTS.has(status) ? [`payout-${id}`] : [])));
  const pending = new Set(records.deliveries.flatMap(({ id, status }) => (status === 'pending' ? [id] : [])));
  for (const { id, type, status } of workflows) {
    // An open payout may need an operator. P7 decides whether it does.
    const mayRun =
      type === 'webhookDelivery' ? pending.has(id.slice('webhook-'.length)) : type === 'payout' && open.has(id);
    const isHealthy = status === 'COMPLETED' || (status === 'RUNNING' && mayRun);
    // A redelivery terminates the retry workflow.
    yield isHealthy || (type === 'webhookDelivery' && status === 'TERMINATED') ? null : `${id} is ${status}`;
  }
}

function keyOf({ paymentId, version }: { readonly paymentId: string; readonly version: number }): string {
  return `${paymentId} ${version}`;
}
