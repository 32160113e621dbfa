import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { Queryable } from '../../db/connection/pool';
import { requireRow } from '../../db/connection/require-row';
import { findCurrentPolicy } from '../../db/operations/find-current-policy';
import { hasOrderId } from '../../db/payments/payment-indexes';
import { PAYMENT_EVENTS, type PaymentEvent } from '../../domain/events';
import { feeTermsOf } from '../../domain/fee-terms';
import { amountsOf, type FeePayer } from '../../domain/fees';
import type { PaymentStatus } from '../../domain/payment-transitions';
import { DEFAULT_PROVIDER, PROVIDERS, type ProviderName } from '../../domain/provider-capabilities';
import { STATUS_MEANINGS } from '../../domain/status-meanings';
import { ConflictError, InvalidError, NotFoundError } from '../../errors';
import type { AuditDependencies } from '../audit/audit';
import { ofInstallation } from '../operations/of-installation';
import { Operation } from '../operations/operation';
import { done } from '../operations/rejections';
import type { FIRE_TIMER } from '../payments/actions/fire-timer';

/** One thing that happens to a payment: its creation, a request of the merchant, the customer, or a timer. */
export type TriggerStep = 'create' | 'cancel' | 'pay' | 'refund' | keyof typeof FIRE_TIMER;

interface TriggerPlan {
  readonly steps: readonly TriggerStep[];
  /** The total whose order behaves in the way that the event needs (docs/sandbox.md, magic amounts). */
  readonly totalRupiah?: number;
  /** What is waited for at the end. `late`: the money that came after the end is recorded. */
  readonly until: PaymentStatus | 'late';
}

const REFUND = ['create', 'pay', 'refund', 'submit-refund'] as const;

/** How a new payment gets to an event. */
const PLANS = {
  'payment.created': { steps: ['create'], until: 'pending' },
  'payment.pending': { steps: ['create'], until: 'pending' },
  'payment.paid': { steps: ['create', 'pay'], until: 'paid' },
  'payment.settled': { steps: ['create', 'pay', 'settle'], until: 'settled' },
  'payment.expired': { steps: ['create', 'expire'], until: 'expired' },
  'payment.cancelled': { steps: ['create', 'cancel'], until: 'cancelled' },
  'payment.failed': { steps: ['create'], totalRupiah: 1_000_402, until: 'failed' },
  'payment.refund_processing': { steps: ['create', 'pay', 'refund'], until: 'refund_processing' },
  'payment.refunded': { steps: REFUND, until: 'refunded' },
  'payment.refund_failed': { steps: REFUND, totalRupiah: 1_000_414, until: 'refund_failed' },
  refund_failed: { steps: REFUND, totalRupiah: 1_000_414, until: 'refund_failed' },
  late_payment: { steps: ['create', 'expire', 'pay'], until: 'late' },
  provider_indeterminate: { steps: ['create'], totalRupiah: 1_000_408, until: 'created' },
} as const satisfies Record<PaymentEvent | 'late_payment' | 'refund_failed' | 'provider_indeterminate', TriggerPlan>;

export type TriggerEvent = keyof typeof PLANS;
export const TRIGGER_EVENTS: readonly TriggerEvent[] = [
  ...PAYMENT_EVENTS,
  'late_payment',
  'refund_failed',
  'provider_indeterminate',
];

const DEFAULT_AMOUNT_RUPIAH = 50_000;
const STATUS_TIMEOUT_MS = 30_000;
const STATUS_INTERVAL_MS = 100;

/** Performs the steps of a payment. */
export interface TriggerActions {
  /** Resolves whether the provider issued a QR code or not. @throws UserError if the API rejects the request */
  create(order: { amount: number; merchant_reference_id: string; provider?: ProviderName }): Promise<void>;
  cancel(paymentId: string): Promise<void>;
  refund(paymentId: string): Promise<void>;
  pay(referenceId: string): Promise<void>;
  fireTimer(timer: keyof typeof FIRE_TIMER, paymentId: string): Promise<void>;
}

export interface TriggerRequest {
  readonly event: TriggerEvent;
  readonly merchantId: string;
  readonly provider?: ProviderName | undefined;
  readonly amountRupiah?: number | undefined;
}

export interface TriggeredPayment {
  readonly id: string;
  readonly referenceId: string;
  /** The order ID. */
  readonly merchantReferenceId: string;
  readonly status: PaymentStatus;
  /** Money has come after the end. */
  readonly hasLatePayment: boolean;
}

export interface TriggeredStep {
  readonly step: TriggerStep;
  readonly payment: TriggeredPayment;
}

interface TriggerNeeds extends AuditDependencies {
  readonly connect: () => Promise<TriggerActions>;
  readonly onStep: (step: TriggeredStep) => void;
}

export const trigger = new Operation({
  name: 'sandbox.trigger',
  ...ofInstallation,
  path: z.object({ merchant: z.uuid() }),
  input: z.object({
    event: z.enum(TRIGGER_EVENTS),
    provider: z.enum(PROVIDERS).optional(),
    amountRupiah: z.int().optional(),
  }),
  load: (_needs: TriggerNeeds, _scope, { merchant }) => Promise.resolve(merchant),
  target: ({ subject }) => subject,
  perform: async ({ needs: { db, connect, onStep }, subject: merchantId, input }) =>
    done(await triggerEvent(db, await connect(), { merchantId, ...input }, onStep)),
});

/**
 * Takes a new payment of the sandbox to an event.
 * @param onStep is called after each step
 * @throws UserError if a step is rejected, or the payment has another status after half a minute
 */
export async function triggerEvent(
  db: Queryable,
  actions: TriggerActions,
  request: TriggerRequest,
  onStep: (step: TriggeredStep) => void,
): Promise<TriggeredPayment> {
  const plan: TriggerPlan = PLANS[request.event];
  const { merchantId, provider } = request;
  const orderId = `TRIGGER-${randomBytes(4).toString('hex').toUpperCase()}`;
  const order = { amount: await amountFor(db, plan, request), merchant_reference_id: orderId };
  await actions.create({ ...order, ...(provider && { provider }) });
  let payment = await findByOrder(db, merchantId, orderId);
  onStep({ step: 'create', payment });
  assertCreated(plan, request, payment);
  for (const step of plan.steps) {
    if (step === 'create') continue;
    await performStep(actions, step, payment);
    payment = await reached(db, payment, step === 'pay' && plan.until === 'late' ? 'late' : STATUS_AFTER[step]);
    onStep({ step, payment });
  }
  return reached(db, payment, plan.until);
}

/** A magic amount, or an injected fault, may have kept the provider from issuing the QR. */
function assertCreated(
  { steps, until }: TriggerPlan,
  { event, amountRupiah }: TriggerRequest,
  { referenceId, status }: TriggeredPayment,
): void {
  if (status === (steps.length > 1 ? 'pending' : until)) return;
  const text = `${referenceId} is ${status}, so it cannot reach ${event}. ${STATUS_MEANINGS[status]}`;
  if (amountRupiah === undefined) throw new ConflictError('outcome_not_reached', text);
  throw new InvalidError('amount', text);
}

/** Where the next step can begin. */
const STATUS_AFTER = {
  cancel: 'cancelled',
  pay: 'paid',
  refund: 'refund_processing',
  expire: 'expired',
  settle: 'settled',
  'submit-refund': null,
} as const satisfies Record<Exclude<TriggerStep, 'create'>, PaymentStatus | null>;

function performStep(
  actions: TriggerActions,
  step: Exclude<TriggerStep, 'create'>,
  { id, referenceId }: TriggeredPayment,
): Promise<void> {
  switch (step) {
    case 'pay':
      return actions.pay(referenceId);
    case 'cancel':
      return actions.cancel(id);
    case 'refund':
      return actions.refund(id);
    default:
      return actions.fireTimer(step, id);
  }
}

/** The amount whose total is the one of the plan: a buyer pays the fee on top of the amount. */
async function amountFor(
  db: Queryable,
  { totalRupiah }: TriggerPlan,
  { event, merchantId, provider = DEFAULT_PROVIDER, amountRupiah }: TriggerRequest,
): Promise<number> {
  if (totalRupiah === undefined) return amountRupiah ?? DEFAULT_AMOUNT_RUPIAH;
  if (amountRupiah !== undefined) {
    throw new InvalidError('amount', `${event} needs an amount of its own.`);
  }
  const { rows } = await db.query<{ feePayer: FeePayer }>(
    'select fee_payer as "feePayer" from merchants where id = $1',
    [merchantId],
  );
  const { feePayer } = requireRow(rows, 'merchant', merchantId);
  const { policy, rates } = await findCurrentPolicy(db, { merchantId, provider, channel: 'qris' });
  if (!policy) throw new NotFoundError('policy', provider);
  for (let amount = totalRupiah; amount > 0; amount -= 1) {
    const outcome = amountsOf(amount, feeTermsOf(amount, policy, rates), feePayer);
    if (outcome.outcome === 'ok' && outcome.amounts.totalRupiah === totalRupiah) return amount;
    if (outcome.outcome === 'ok' && outcome.amounts.totalRupiah < totalRupiah) break;
  }
  const text = `With the fee of the policy no amount has the total that ${event} needs (${totalRupiah}).`;
  throw new ConflictError('not_allowed', text);
}

const TRIGGERED_PAYMENT = `
  select id, reference_id as "referenceId", merchant_reference_id as "merchantReferenceId", status,
    exists (select from late_payments where payment_id = payments.id) as "hasLatePayment" from payments`;

async function findByOrder(db: Queryable, merchantId: string, orderId: string): Promise<TriggeredPayment> {
  const { rows } = await db.query<TriggeredPayment>(
    `${TRIGGERED_PAYMENT} where merchant_id = $1 and ${hasOrderId('$2')}`,
    [merchantId, orderId],
  );
  if (!rows[0]) throw new ConflictError('outcome_not_reached', 'The API created no payment.');
  return rows[0];
}

/** @param goal null: whatever the status is @throws UserError if the payment does not reach it */
async function reached(
  db: Queryable,
  { id, referenceId }: TriggeredPayment,
  goal: PaymentStatus | 'late' | null,
): Promise<TriggeredPayment> {
  const deadlineAtMs = performance.now() + STATUS_TIMEOUT_MS;
  for (;;) {
    const { rows } = await db.query<TriggeredPayment>(`${TRIGGERED_PAYMENT} where id = $1`, [id]);
    const [now] = rows;
    if (now && (goal === null || (goal === 'late' ? now.hasLatePayment : now.status === goal))) return now;
    if (performance.now() > deadlineAtMs) {
      const expected = goal === 'late' ? 'no late payment' : `not ${goal}`;
      throw new ConflictError(
        'outcome_not_reached',
        `${referenceId} is ${now?.status ?? 'gone'} and has ${expected} after 30 s; is a worker running?`,
      );
    }
    await sleep(STATUS_INTERVAL_MS);
  }
}
