import { randomUUID } from 'node:crypto';
import type { Pool, PoolClient } from 'pg';
import { ACQUIRERS, issueQrString, newQrReference, type Acquirer } from './acquirers';
import { inTransaction } from './database';
import { AUTO_PAY_DELAY_SECONDS, LATE_PAY_DELAY_SECONDS, totalsOf } from './magic-amounts';
import {
  expectOne,
  ORDER_COLUMNS,
  readRefunds,
  REFUND_COLUMNS,
  sumOf,
  type LedgerPayment,
  type LedgerRefund,
  type OrderStatus,
  type PaymentWithRefunds,
} from './ledger-records';

export interface Charge {
  readonly orderId: string;
  readonly acquirer: Acquirer;
  readonly grossAmountRupiah: number;
  readonly expiresAt: Date;
  readonly notificationUrl: string | null;
  readonly idempotencyKey: string | null;
}

/** Writes, within the transaction of the change, that the merchant is to hear of it. */
export type EnqueueNotification = (client: PoolClient, changed: PaymentWithRefunds, times: number) => Promise<void>;

/** An order as it is in the statement that reads it. */
type CurrentOrder = LedgerPayment & { readonly isOverdue: boolean };
const CURRENT_ORDER_COLUMNS = `${ORDER_COLUMNS},
  status = 'pending' AND expires_at <= clock_timestamp() AS "isOverdue"`;

/** Midtrans remembers an Idempotency-Key for five minutes. */
const REPLAY_WINDOW = `interval '5 minutes'`;

/** The acquirer's book. Every change is one statement or one transaction, so that it can be trusted as the oracle of a fault test. */
export class Ledger {
  readonly #pool: Pool;
  readonly #enqueueNotification: EnqueueNotification;

  constructor(pool: Pool, enqueueNotification: EnqueueNotification) {
    this.#pool = pool;
    this.#enqueueNotification = enqueueNotification;
  }

  /** Opens an order. The same idempotency key within five minutes gives the first answer again, another charge is a duplicate. */
  async charge(charge: Charge): Promise<{ outcome: 'created' | 'replayed' | 'duplicate'; payment: LedgerPayment }> {
    const transactionId = randomUUID();
    const qrReference = newQrReference(charge.acquirer, transactionId);
    const result = await this.#pool.query<LedgerPayment & { created: boolean; replayed: boolean | null }>({
      name: 'charge',
      text: `
        INSERT INTO payments (order_id, transaction_id, acquirer, gross_amount_rupiah, status, qr_reference, qr_string,
          notification_url, idempotency_key, expires_at)
        VALUES ($1, $2, $3, $4, 'pending', $5, $6, $7, $8, $9)
        ON CONFLICT (order_id) DO UPDATE SET charge_calls = payments.charge_calls
          + CASE WHEN payments.idempotency_key = $8 AND payments.charged_at > now() - ${REPLAY_WINDOW} THEN 0 ELSE 1 END
        RETURNING ${ORDER_COLUMNS}, xmax = 0 AS created,
          idempotency_key = $8 AND charged_at > now() - ${REPLAY_WINDOW} AS replayed`,
      values: [
        charge.orderId,
        transactionId,
        charge.acquirer,
        charge.grossAmountRupiah,
        qrReference,
        issueQrString(charge.acquirer, qrReference, charge.grossAmountRupiah),
        charge.notificationUrl,
        charge.idempotencyKey,
        charge.expiresAt,
      ],
    });
    const { created, replayed, ...payment } = expectOne(result.rows);
    return { outcome: created ? 'created' : replayed ? 'replayed' : 'duplicate', payment };
  }

  /** By order id or transaction id, as Midtrans allows. An order whose time is over has expired, whoever asks first. */
  async find(id: string): Promise<PaymentWithRefunds | null> {
    const result = await this.#pool.query<CurrentOrder>({
      name: 'find',
      text: `SELECT ${CURRENT_ORDER_COLUMNS} FROM payments WHERE order_id = $1 OR transaction_id = $1`,
      values: [id],
    });
    return this.#complete(result.rows[0]);
  }

  /** As `find`, for a status call: the same statement counts the call. */
  async findCounted(id: string): Promise<PaymentWithRefunds | null> {
    const result = await this.#pool.query<CurrentOrder>({
      name: 'find_counted',
      text: `UPDATE payments SET status_calls = status_calls + 1 WHERE order_id = $1 OR transaction_id = $1
             RETURNING ${CURRENT_ORDER_COLUMNS}`,
      values: [id],
    });
    return this.#complete(result.rows[0]);
  }

  /** Lets the order expire if its time is over, else adds its refunds. */
  async #complete(row: CurrentOrder | undefined): Promise<PaymentWithRefunds | null> {
    if (!row) return null;
    const { isOverdue, ...payment } = row;
    if (isOverdue) return this.#change(payment.orderId, (_client, found) => Promise.resolve(found));
    return { payment, refunds: await readRefunds(this.#pool, payment) };
  }

  /**
   * Ends an unpaid order early. An order that has expired already answers as if this call had done it: a guess, the
   * documentation is silent; a merchant who expires at the last second must not be told that the order "cannot" expire.
   */
  async expire(id: string): Promise<{ changed: boolean; found: PaymentWithRefunds } | null> {
    return this.#change(id, async (client, found) => {
      if (found.payment.status === 'expire') return { changed: true, found };
      if (found.payment.status !== 'pending') return { changed: false, found };
      return { changed: true, found: await this.#setStatus(client, found, 'expire') };
    });
  }

  /** Takes an unpaid order back, where the acquirer can. */
  async cancel(id: string): Promise<{ changed: boolean; found: PaymentWithRefunds } | null> {
    return this.#change(id, async (client, found) => {
      const { status, acquirer } = found.payment;
      if (status !== 'pending' || !ACQUIRERS[acquirer].canCancelAndRefund) return { changed: false, found };
      return { changed: true, found: await this.#setStatus(client, found, 'cancel') };
    });
  }

  /**
   * A customer pays. An order that has ended is paid too, as customers do: late money; but not by who scans its QR only now.
   * Null where there is no such order.
   */
  async pay(
    id: string,
    times: number,
    payable: readonly OrderStatus[] = ['pending', 'expire', 'cancel'],
  ): Promise<{ paid: boolean; found: PaymentWithRefunds } | null> {
    return this.#change(id, async (client, found) => {
      if (!payable.includes(found.payment.status)) return { paid: false, found };
      return { paid: true, found: await this.#setStatus(client, found, 'settlement', times) };
    });
  }

  /** A customer scans: only an open order of this acquirer can be paid so. */
  async findOpen(qrReference: string, grossAmountRupiah: number): Promise<string | null> {
    const result = await this.#pool.query<{ orderId: string }>(
      `SELECT order_id AS "orderId" FROM payments
       WHERE qr_reference = $1 AND gross_amount_rupiah = $2 AND status = 'pending' AND expires_at > now()`,
      [qrReference, grossAmountRupiah],
    );
    return result.rows[0]?.orderId ?? null;
  }

  /** Takes a refund request, or writes it down as turned down. The same refund key gives the same answer, always. */
  async refund(id: string, request: SandboxRefundRequest): Promise<RefundResult | null> {
    return this.#change(id, async (client, found): Promise<RefundResult> => {
      const earlier = found.refunds.find((refund) => refund.refundKey === request.refundKey);
      if (earlier) return { outcome: earlier.status === 'rejected' ? 'rejected' : 'taken', refund: earlier, found };
      const { status, acquirer, orderId, grossAmountRupiah } = found.payment;
      const isPaid = status === 'settlement' || status === 'partial_refund';
      if (!isPaid || !ACQUIRERS[acquirer].canCancelAndRefund) return { outcome: 'not_refundable', found };
      const remainingRupiah = grossAmountRupiah - sumOf(found.refunds);
      const amountRupiah = request.amountRupiah ?? remainingRupiah;
      if (amountRupiah > remainingRupiah) return { outcome: 'amount_too_high', found };
      const inserted = await client.query<LedgerRefund>(
        `INSERT INTO refunds (order_id, refund_key, amount_rupiah, reason, status) VALUES ($1, $2, $3, $4, $5)
         RETURNING ${REFUND_COLUMNS}`,
        [orderId, request.refundKey, amountRupiah, request.reason, request.reject ? 'rejected' : 'requested'],
      );
      const refund = expectOne(inserted.rows);
      const refunds = [...found.refunds, refund];
      if (request.reject) return { outcome: 'rejected', refund, found: { ...found, refunds } };
      const next = amountRupiah === remainingRupiah ? 'refund' : 'partial_refund';
      return { outcome: 'taken', refund, found: await this.#setStatus(client, { ...found, refunds }, next) };
    });
  }

  /** What time alone brings about: expiry, the bank's confirmation of refunds, and customers of magic amounts. */
  async sweep(): Promise<void> {
    const overdue = await this.#pool.query<{ orderId: string }>(
      `SELECT order_id AS "orderId" FROM payments WHERE status = 'pending' AND expires_at <= now() LIMIT 200`,
    );
    for (const { orderId } of overdue.rows) await this.#change(orderId, (_client, found) => Promise.resolve(found));
    // A difference of times, because no interval holds every delay.
    const confirmable = await this.#pool.query<{ orderId: string }>(
      `SELECT DISTINCT order_id AS "orderId" FROM refunds, bank
       WHERE status = 'requested' AND extract(epoch FROM now() - created_at) >= refund_confirms_after_seconds LIMIT 200`,
    );
    for (const { orderId } of confirmable.rows) await this.#confirmRefunds(orderId);
    for (const orderId of await this.#findAutoPaying()) await this.pay(orderId, 1);
  }

  /** How long after its request the bank confirms a refund. */
  async bankDelaySeconds(): Promise<number> {
    const { rows } = await this.#pool.query<{ seconds: number }>(
      'SELECT refund_confirms_after_seconds AS seconds FROM bank',
    );
    return expectOne(rows).seconds;
  }

  /** For all refunds that the bank has not confirmed yet, earlier ones included. */
  async setBankDelaySeconds(seconds: number): Promise<void> {
    await this.#pool.query('UPDATE bank SET refund_confirms_after_seconds = $1', [seconds]);
  }

  /** Orders over a magic amount whose customer comes now. */
  async #findAutoPaying(): Promise<string[]> {
    const [inTime, late] = [totalsOf('pays').join(', '), totalsOf('pays_late').join(', ')];
    // The totals stand in the text, as in the index, so that PostgreSQL sees that the index holds all such orders.
    const { rows } = await this.#pool.query<{ orderId: string }>(
      `SELECT order_id AS "orderId" FROM payments
       WHERE paid_at IS NULL AND gross_amount_rupiah IN (${inTime}, ${late}) AND (
         gross_amount_rupiah IN (${inTime}) AND status = 'pending'
           AND charged_at <= now() - ${AUTO_PAY_DELAY_SECONDS} * interval '1 second'
         OR gross_amount_rupiah IN (${late}) AND ended_at <= now() - ${LATE_PAY_DELAY_SECONDS} * interval '1 second')
       ORDER BY charged_at LIMIT 200`,
    );
    return rows.map(({ orderId }) => orderId);
  }

  /** Newest first. */
  async list(limit: number | null = null): Promise<PaymentWithRefunds[]> {
    const payments = await this.#pool.query<LedgerPayment>(
      `SELECT ${ORDER_COLUMNS} FROM payments ORDER BY charged_at DESC, order_id LIMIT $1`,
      [limit],
    );
    const refunds = await this.#pool.query<LedgerRefund & { orderId: string }>(
      `SELECT ${REFUND_COLUMNS}, order_id AS "orderId" FROM refunds WHERE order_id = ANY($1) ORDER BY chargeback_id`,
      [payments.rows.map((payment) => payment.orderId)],
    );
    const byOrder = new Map<string, LedgerRefund[]>();
    for (const { orderId, ...refund } of refunds.rows) byOrder.set(orderId, [...(byOrder.get(orderId) ?? []), refund]);
    return payments.rows.map((payment) => ({ payment, refunds: byOrder.get(payment.orderId) ?? [] }));
  }

  /** Locks the order, lets it expire if its time is over, then runs `work` on what it is now; all in one transaction. */
  async #change<T>(id: string, work: (client: PoolClient, found: PaymentWithRefunds) => Promise<T>): Promise<T | null> {
    return inTransaction(this.#pool, async (client) => {
      const locked = await client.query<CurrentOrder>({
        name: 'lock',
        text: `SELECT ${CURRENT_ORDER_COLUMNS} FROM payments WHERE order_id = $1 OR transaction_id = $1 FOR UPDATE`,
        values: [id],
      });
      const row = locked.rows[0];
      if (!row) return null;
      const { isOverdue, ...payment } = row;
      const found = { payment, refunds: await readRefunds(client, payment) };
      return work(client, isOverdue ? await this.#setStatus(client, found, 'expire') : found);
    });
  }

  async #setStatus(client: PoolClient, found: PaymentWithRefunds, status: OrderStatus, times = 1) {
    const updated = await client.query<LedgerPayment>({
      name: 'set_status',
      text: `UPDATE payments SET status = $2,
               paid_at = coalesce(paid_at, CASE WHEN $2 = 'settlement' THEN clock_timestamp() END),
               ended_at = coalesce(ended_at, CASE WHEN $2 IN ('expire', 'cancel') THEN clock_timestamp() END)
             WHERE order_id = $1 RETURNING ${ORDER_COLUMNS}`,
      values: [found.payment.orderId, status],
    });
    const changed = { payment: expectOne(updated.rows), refunds: found.refunds };
    await this.#enqueueNotification(client, changed, times);
    return changed;
  }

  async #confirmRefunds(orderId: string): Promise<void> {
    await this.#change(orderId, async (client, { payment }) => {
      const confirmed = await client.query(
        `UPDATE refunds SET status = 'confirmed', confirmed_at = now() WHERE order_id = $1 AND status = 'requested'`,
        [orderId],
      );
      if (confirmed.rowCount === 0) return;
      await this.#enqueueNotification(client, { payment, refunds: await readRefunds(client, payment) }, 1);
    });
  }
}

export interface SandboxRefundRequest {
  readonly refundKey: string;
  /** All that is left, where the merchant names no amount. */
  readonly amountRupiah: number | null;
  readonly reason: string;
  readonly reject: boolean;
}

export type RefundResult = { readonly found: PaymentWithRefunds } & (
  | { readonly outcome: 'taken' | 'rejected'; readonly refund: LedgerRefund }
  | { readonly outcome: 'not_refundable' }
  | { readonly outcome: 'amount_too_high' }
);
