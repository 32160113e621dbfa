import { z } from 'zod';
import type { Queryable } from '../db/pool';
import { PAYMENT_COLUMNS, type PaymentRow } from '../db/reads/payment-row';
import type { PaymentEvent } from '../domain/events';
import type { LedgerAccount, LedgerLine } from '../domain/ledger';
import type { PaymentStatus, TransitionName } from '../domain/payment-transitions';
import type { PaymentReport } from '../../workflows/messages';
import { requireRow } from './require-row';

/** All that is known of a payment: the record in PostgreSQL, and what its workflow says. */
export interface PaymentDetails {
  readonly payment: PaymentRow;
  readonly transitions: readonly PaymentTransition[];
  readonly ledger: readonly LedgerEntry[];
  readonly deliveries: readonly WebhookDelivery[];
  /** The answer to the query `status`; null where Temporal has no such workflow, `error` where it does not answer. */
  readonly workflow: PaymentReport | { readonly error: string } | null;
}

export interface PaymentTransition {
  readonly version: number;
  readonly name: TransitionName;
  readonly fromStatus: PaymentStatus | null;
  readonly toStatus: PaymentStatus;
  readonly occurredAt: Date;
  readonly actor: string;
  readonly note: string | null;
}

export interface LedgerEntry {
  /** Of the payment, after the transition that booked it. */
  readonly version: number;
  readonly occurredAt: Date;
  readonly side: LedgerLine['side'];
  readonly account: LedgerAccount;
  readonly amountRupiah: number;
}

export interface WebhookDelivery {
  readonly id: string;
  readonly event: PaymentEvent;
  readonly endpointId: string;
  readonly url: string;
  readonly status: 'pending' | 'delivered' | 'dead';
  readonly deadReason: string | null;
  readonly createdAt: Date;
  readonly attempts: readonly WebhookAttempt[];
}

export interface WebhookAttempt {
  readonly number: number;
  readonly startedAt: string;
  readonly durationMs: number;
  readonly statusCode: number | null;
  readonly failure: string | null;
}

/**
 * @param idOrReference the payment's UUID or `reference_id`
 * @param askStatus asks the payment's workflow; undefined where there is none
 * @throws UserError when there is no such payment
 */
export async function showPayment(
  db: Queryable,
  askStatus: (paymentId: string) => Promise<PaymentReport | undefined>,
  idOrReference: string,
): Promise<PaymentDetails> {
  const payment = await findPayment(db, idOrReference);
  const [transitions, ledger, deliveries, workflow] = await Promise.all([
    listTransitions(db, payment.id),
    listLedgerEntries(db, payment.id),
    listDeliveries(db, payment.id),
    askStatus(payment.id).catch(asAnswer),
  ]);
  return { payment, transitions, ledger, deliveries, workflow: workflow ?? null };
}

/** The record is worth showing while Temporal is away. */
function asAnswer(error: unknown): { error: string } {
  return { error: error instanceof Error ? error.message : String(error) };
}

async function findPayment(db: Queryable, idOrReference: string): Promise<PaymentRow> {
  const column = z.guid().safeParse(idOrReference).success ? 'id' : 'reference_id';
  const { rows } = await db.query<PaymentRow>(`select ${PAYMENT_COLUMNS} from payments where ${column} = $1`, [
    idOrReference,
  ]);
  return requireRow(rows, `There is no payment ${idOrReference}; lunas payments list shows the newest.`);
}

async function listTransitions(db: Queryable, paymentId: string): Promise<PaymentTransition[]> {
  const { rows } = await db.query<PaymentTransition>(
    `select version, name, from_status as "fromStatus", to_status as "toStatus", occurred_at as "occurredAt", actor, note
     from payment_transitions where payment_id = $1 order by version`,
    [paymentId],
  );
  return rows;
}

async function listLedgerEntries(db: Queryable, paymentId: string): Promise<LedgerEntry[]> {
  const { rows } = await db.query<LedgerEntry>(
    `select posting.payment_version as version, posting.occurred_at as "occurredAt", entry.side, entry.account,
       entry.amount_rupiah as "amountRupiah"
     from ledger_postings posting join ledger_entries entry on entry.posting_id = posting.id
     where posting.payment_id = $1 order by posting.payment_version, entry.line`,
    [paymentId],
  );
  return rows;
}

async function listDeliveries(db: Queryable, paymentId: string): Promise<WebhookDelivery[]> {
  const { rows } = await db.query<WebhookDelivery>(
    `select delivery.id, event.event, endpoint.id as "endpointId", endpoint.url, delivery.status,
       delivery.dead_reason as "deadReason", delivery.created_at as "createdAt",
       (select coalesce(json_agg(json_build_object('number', number, 'startedAt', iso_utc(started_at),
            'durationMs', duration_ms, 'statusCode', status_code, 'failure', failure) order by number), '[]')
          from webhook_attempts where delivery_id = delivery.id) as attempts
     from webhook_deliveries delivery
     join webhook_events event
       on event.payment_id = delivery.payment_id and event.payment_version = delivery.payment_version
     join webhook_endpoints endpoint on endpoint.id = delivery.endpoint_id
     where delivery.payment_id = $1 order by delivery.payment_version, endpoint.created_at, endpoint.id`,
    [paymentId],
  );
  return rows;
}
