import { z } from 'zod';
import type { Pool } from '../../src/db/connection/pool';
import { verifyLedger, type LedgerVerification } from '../../src/services/ledger/verify-ledger';
import type { Journal } from './journal';
import {
  IS_ABANDONED,
  readObservedPayouts,
  readTransfers,
  type ObservedPayouts,
  type ObservedTransfer,
} from './observed-payouts';
import type { ReceivedAttempt } from './receiver';
import type { FaultStack } from './stack';

/** An order in the acquirer's own ledger. */
const providerLedgerSchema = z.object({
  payments: z.array(
    z.object({
      order_id: z.string(),
      status: z.string(),
      gross_amount: z.string(),
      charge_calls: z.number(),
      refunds: z.array(z.object({ refund_key: z.string(), amount: z.number(), status: z.string() })),
    }),
  ),
});
export type ObservedOrder = z.infer<typeof providerLedgerSchema>['payments'][number];

export interface PaymentRecord {
  readonly id: string;
  readonly referenceId: string;
  readonly idempotencyKey: string | null;
  readonly status: string;
  readonly totalRupiah: number;
  readonly feeRupiah: number;
  readonly netRupiah: number;
  readonly late: string | null;
}

export interface TransitionRecord {
  readonly paymentId: string;
  readonly version: number;
  readonly name: string;
  readonly from: string | null;
  readonly to: string;
  readonly event: string | null;
  readonly body: string | null;
}

export interface DeliveryRecord {
  readonly id: string;
  readonly paymentId: string;
  readonly version: number;
  readonly status: 'pending' | 'delivered' | 'dead';
  readonly hasRetryWorkflow: boolean;
  /** It has no lease and no retry workflow for some seconds. */
  readonly isAbandoned: boolean;
}

/** The balance of one payment, debit minus credit. */
export interface BalanceRecord {
  readonly paymentId: string;
  readonly sum: number;
  readonly pending: number;
  readonly available: number;
  readonly receivable: number;
  readonly suspense: number;
}

export interface StoredRecords {
  readonly payments: readonly PaymentRecord[];
  readonly transitions: readonly TransitionRecord[];
  readonly deliveries: readonly DeliveryRecord[];
  readonly balances: readonly BalanceRecord[];
  readonly refundKeys: ReadonlySet<string>;
  readonly openNotifications: readonly string[];
  readonly exceptions: readonly { readonly kind: string; readonly paymentId: string | null }[];
}

export interface ObservedWorkflow {
  readonly id: string;
  readonly type: string;
  readonly status: string;
  readonly paymentStatus: string | null;
  readonly payoutStatus: string | null;
  readonly needsAttention: boolean;
  readonly startedAtMs: number;
}

/** The state of the service, from inside and outside, read at about the same time. */
export interface ObservedState {
  readonly journal: Journal;
  readonly orders: ReadonlyMap<string, ObservedOrder>;
  /** What the bank has, by our references. */
  readonly transfers: ReadonlyMap<string, ObservedTransfer>;
  readonly records: StoredRecords;
  readonly payouts: ObservedPayouts;
  readonly ledger: LedgerVerification;
  readonly received: readonly ReceivedAttempt[];
  /** How many of them were received before PostgreSQL was read. */
  readonly receivedBefore: number;
  readonly workflows: readonly ObservedWorkflow[];
}

/** The stack of the fault suite, or another service under test. */
export interface ObservedStateSource extends Pick<FaultStack, 'db' | 'client'> {
  readonly sandbox: { readonly url: string };
  readonly receiver: { readonly attempts: readonly ReceivedAttempt[] };
}

/** The state without deliveries that PostgreSQL has lost and the merchant received: their events came again. */
export function withoutLostDeliveries(state: ObservedState): ObservedState {
  const known = new Set(state.records.deliveries.map(({ id }) => id));
  const received = state.received.filter(({ deliveryId }) => known.has(deliveryId));
  return { ...state, received, receivedBefore: received.length };
}

/** Reads in reverse order of the writes: what is in a later store must also be in an earlier one. */
export async function readObservedState(source: ObservedStateSource, journal: Journal): Promise<ObservedState> {
  const promised = journal.snapshot();
  const orders = await readOrders(source);
  const transfers = await readTransfers(source.sandbox.url);
  const receivedBefore = source.receiver.attempts.length;
  const { records, payouts } = await readRecords(source.db);
  const ledger = await verifyLedger(source.db);
  return {
    journal: promised,
    orders,
    transfers,
    records,
    payouts,
    ledger,
    received: [...source.receiver.attempts],
    receivedBefore,
    workflows: await readWorkflows(source),
  };
}

async function readOrders({ sandbox }: ObservedStateSource): Promise<ObservedState['orders']> {
  const response = await fetch(`${sandbox.url}/simulator/payments`);
  const { payments } = providerLedgerSchema.parse(await response.json());
  return new Map(payments.map((order) => [order.order_id, order]));
}

async function readRecords(db: Pool): Promise<Pick<ObservedState, 'records' | 'payouts'>> {
  const client = await db.connect();
  try {
    await client.query('begin isolation level repeatable read, read only');
    const read = async <Row extends object>(text: string) => (await client.query<Row>(text)).rows;
    const records: StoredRecords = {
      payments: await read<PaymentRecord>(
        `select payments.id, reference_id as "referenceId", idempotency_key as "idempotencyKey", payments.status,
           payments.total_rupiah as "totalRupiah", fee_rupiah as "feeRupiah", net_rupiah as "netRupiah",
           late.status as late
         from payments left join late_payments late on late.payment_id = payments.id`,
      ),
      transitions: await read<TransitionRecord>(
        `select transition.payment_id as "paymentId", version, name, from_status as "from", to_status as "to",
           event, body
         from payment_transitions transition left join webhook_events event
           on event.payment_id = transition.payment_id and event.payment_version = transition.version
         order by transition.payment_id, version`,
      ),
      deliveries: await read<DeliveryRecord>(
        `select id, payment_id as "paymentId", payment_version as version, status,
           retry_workflow_started_at is not null as "hasRetryWorkflow", ${IS_ABANDONED} as "isAbandoned"
         from webhook_deliveries where payment_version is not null`,
      ),
      balances: await read<BalanceRecord>(
        `select payment_id as "paymentId", sum(amount)::bigint as sum, ${['pending', 'available']
          .map((name) => `coalesce(sum(amount) filter (where account = 'merchant_${name}'), 0)::bigint as ${name}`)
          .join(', ')},
           coalesce(sum(amount) filter (where account = 'provider_receivable'), 0)::bigint as receivable,
           coalesce(sum(amount) filter (where account = 'suspense'), 0)::bigint as suspense
         from (select payment_id, account, case side when 'debit' then amount_rupiah else -amount_rupiah end as amount
           from ledger_postings join ledger_entries on posting_id = ledger_postings.id
           where payment_id is not null) entries
         group by payment_id`,
      ),
      refundKeys: new Set(
        (
          await read<{ key: string }>(
            'select refund_key as key from refunds union all select refund_key from late_payments',
          )
        ).map(({ key }) => key),
      ),
      openNotifications: (
        await read<{ reference: string }>(
          `select reference_id as reference from provider_notifications
           where closed_at is null and reference_id not like 'LP%'`,
        )
      ).map(({ reference }) => reference),
      exceptions: await read(
        `select kind, payment_id as "paymentId" from exceptions where reference_id not like 'LP%'`,
      ),
    };
    const payouts = await readObservedPayouts(read);
    await client.query('commit');
    client.release();
    return { records, payouts };
  } catch (error) {
    client.release(true);
    throw error;
  }
}

/** A payout that rests has a new run at each look at the bank. One that has just begun has no status yet. */
const FIRST_TASK_MS = 10_000;

async function readWorkflows({ client }: ObservedStateSource): Promise<ObservedWorkflow[]> {
  const found: ObservedWorkflow[] = [];
  for await (const { workflowId, type, status, startTime, searchAttributes } of client.workflow.list({
    pageSize: 1_000,
  })) {
    const { PaymentStatus, PayoutStatus, NeedsAttention } = searchAttributes;
    if (type === 'payout' && PayoutStatus === undefined && Date.now() - startTime.getTime() < FIRST_TASK_MS) continue;
    found.push({
      id: workflowId,
      type,
      status: status.name,
      paymentStatus: textOf(PaymentStatus),
      payoutStatus: textOf(PayoutStatus),
      needsAttention: NeedsAttention?.[0] === true,
      startedAtMs: startTime.getTime(),
    });
  }
  return found;
}

function textOf(attribute: readonly unknown[] | undefined): string | null {
  const value = attribute?.[0];
  return typeof value === 'string' ? value : null;
}
