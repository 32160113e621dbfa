import { randomUUID } from 'node:crypto';
import type { Pool, PoolClient } from 'pg';
import { ACQUIRERS, issueQrString, newQrReference, type Acquirer, type AcquirerShop } from './acquirers';
import { inTransaction } from './database';
import {
  expectOne,
  ORDER_COLUMNS,
  readRefunds,
  REFUND_COLUMNS,
  sumOf,
  type Order,
  type OrderRefund,
  type OrderStatus,
  type OrderWithRefunds,
} from './ledger-records';
import { AUTO_PAY_DELAY_SECONDS, LATE_PAY_DELAY_SECONDS, totalsOf } from './magic-amounts';
import { enqueueNotifications } from './notification-queue';

export interface Charge {
  readonly shop: AcquirerShop;
  readonly orderId: string;
  readonly acquirer: Acquirer;
  readonly grossAmountRupiah: number;
  readonly expiresAt: Date;
  readonly notificationUrl: string | null;
  readonly idempotencyKey: string | null;
}

/** An order as of the statement that reads it. */
type CurrentOrder = Order & { readonly isOverdue: boolean };
const CURRENT_ORDER_COLUMNS = `${ORDER_COLUMNS},
  status = 'pending' and expires_at <= clock_timestamp() as "isOverdue"`;

/** The order with the id $1; one of the shop with the key $2, if there is one. */
const IS_ORDER = '(order_id = $1 or transaction_id = $1) and server_key = coalesce($2, server_key)';

/** Changes an order that is locked. */
type OrderChange<T> = (client: PoolClient, found: OrderWithRefunds) => Promise<T>;

/** Midtrans stores an Idempotency-Key for five minutes. */
const REPLAY_WINDOW = `interval '5 minutes'`;

/** The acquirer's ledger. Each change is one statement or one transaction: fault tests use it as oracle. */
export class Ledger {
  constructor(private readonly pool: Pool) {}

  /**
   * Opens an order. A repeated idempotency key returns the original order for five minutes. Any other charge of the
   * order is a duplicate.
   */
  async charge(charge: Charge): Promise<{ outcome: 'created' | 'replayed' | 'duplicate'; order: Order }> {
    const transactionId = randomUUID();
    const qrReference = newQrReference(charge.acquirer, transactionId);
    const result = await this.pool.query<Order & { created: boolean; replayed: boolean | null }>({
      name: 'charge',
      text: `
        insert into payments (order_id, transaction_id, acquirer, gross_amount_rupiah, status, qr_reference, qr_string,
          notification_url, idempotency_key, expires_at, server_key)
        values ($1, $2, $3, $4, 'pending', $5, $6, $7, $8, $9, $10)
        on conflict (order_id) do update set charge_calls = payments.charge_calls
          + case when payments.idempotency_key = $8 and payments.charged_at > now() - ${REPLAY_WINDOW} then 0 else 1 end
        returning ${ORDER_COLUMNS}, xmax = 0 as created,
          idempotency_key = $8 and charged_at > now() - ${REPLAY_WINDOW} as replayed`,
      values: [
        charge.orderId,
        transactionId,
        charge.acquirer,
        charge.grossAmountRupiah,
        qrReference,
        issueQrString(charge.shop, {
          acquirer: charge.acquirer,
          qrReference,
          totalRupiah: charge.grossAmountRupiah,
        }),
        charge.notificationUrl,
        charge.idempotencyKey,
        charge.expiresAt,
        charge.shop.serverKey,
      ],
    });
    const { created, replayed, ...order } = expectOne(result.rows);
    return { outcome: created ? 'created' : replayed ? 'replayed' : 'duplicate', order };
  }

  /**
   * By order id or transaction id, as at Midtrans. An overdue order expires when it is read.
   * @param serverKey of the shop that asks; absent: the order of any shop
   */
  async find(id: string, serverKey?: string): Promise<OrderWithRefunds | null> {
    const result = await this.pool.query<CurrentOrder>({
      name: 'find',
      text: `select ${CURRENT_ORDER_COLUMNS} from payments where ${IS_ORDER}`,
      values: [id, serverKey],
    });
    return this.#withRefunds(result.rows[0]);
  }

  /** Like `find`, for a status call. The same statement counts the call. */
  async findCounted(id: string, serverKey: string): Promise<OrderWithRefunds | null> {
    const result = await this.pool.query<CurrentOrder>({
      name: 'find_counted',
      text: `update payments set status_calls = status_calls + 1 where ${IS_ORDER}
             returning ${CURRENT_ORDER_COLUMNS}`,
      values: [id, serverKey],
    });
    return this.#withRefunds(result.rows[0]);
  }

  /** Expires an overdue order, else adds its refunds. */
  async #withRefunds(row: CurrentOrder | undefined): Promise<OrderWithRefunds | null> {
    if (!row) return null;
    const { isOverdue, ...order } = row;
    if (isOverdue) return this.#change(order.orderId, (_client, found) => Promise.resolve(found));
    return { order, refunds: await readRefunds(this.pool, order) };
  }

  /**
   * Expires an unpaid order early. For an order that has already expired, the result is the same. Midtrans' documents
   * do not define this case. An error would be wrong for a merchant whose request arrives just after the expiry.
   */
  async expire(id: string, serverKey: string): Promise<{ changed: boolean; found: OrderWithRefunds } | null> {
    const expireThis: OrderChange<{ changed: boolean; found: OrderWithRefunds }> = async (client, found) => {
      if (found.order.status === 'expire') return { changed: true, found };
      if (found.order.status !== 'pending') return { changed: false, found };
      return { changed: true, found: await this.#setStatus(client, found, 'expire') };
    };
    return this.#change(id, expireThis, serverKey);
  }

  /** Cancels an unpaid order if the acquirer supports it. */
  async cancel(id: string, serverKey: string): Promise<{ changed: boolean; found: OrderWithRefunds } | null> {
    const cancelThis: OrderChange<{ changed: boolean; found: OrderWithRefunds }> = async (client, found) => {
      const { status, acquirer } = found.order;
      if (status !== 'pending' || !ACQUIRERS[acquirer].canCancelAndRefund) return { changed: false, found };
      return { changed: true, found: await this.#setStatus(client, found, 'cancel') };
    };
    return this.#change(id, cancelThis, serverKey);
  }

  /**
   * A customer pays. An expired or cancelled order can be paid too: a late payment.
   * @param payable the statuses in which the order can be paid
   * @returns null if the order does not exist
   */
  async pay(
    id: string,
    times: number,
    payable: readonly OrderStatus[] = ['pending', 'expire', 'cancel'],
  ): Promise<{ paid: boolean; found: OrderWithRefunds } | null> {
    return this.#change(id, async (client, found) => {
      if (!payable.includes(found.order.status)) return { paid: false, found };
      return { paid: true, found: await this.#setStatus(client, found, 'settlement', times) };
    });
  }

  /** The order of a scanned QR. An overdue order expires when it is read. */
  async findByQr(qrReference: string, grossAmountRupiah: number): Promise<OrderWithRefunds | null> {
    const result = await this.pool.query<CurrentOrder>(
      `select ${CURRENT_ORDER_COLUMNS} from payments where qr_reference = $1 and gross_amount_rupiah = $2`,
      [qrReference, grossAmountRupiah],
    );
    return this.#withRefunds(result.rows[0]);
  }

  /** Accepts or rejects a refund request and records it. A repeated refund key returns the original result. */
  async refund(id: string, request: OrderRefundRequest, serverKey: string): Promise<RefundResult | null> {
    const refundThis: OrderChange<RefundResult> = async (client, found) => {
      const earlier = found.refunds.find((refund) => refund.refundKey === request.refundKey);
      if (earlier) return { outcome: earlier.status === 'rejected' ? 'rejected' : 'accepted', refund: earlier, found };
      const { status, acquirer, orderId, grossAmountRupiah } = found.order;
      const isPaid = status === 'settlement' || status === 'partial_refund';
      if (!isPaid || !ACQUIRERS[acquirer].canCancelAndRefund) return { outcome: 'not_refundable', found };
      const remainingRupiah = grossAmountRupiah - sumOf(found.refunds);
      const amountRupiah = request.amountRupiah ?? remainingRupiah;
      if (amountRupiah > remainingRupiah) return { outcome: 'amount_too_high', found };
      const inserted = await client.query<OrderRefund>(
        `insert into refunds (order_id, refund_key, amount_rupiah, reason, status) values ($1, $2, $3, $4, $5)
         returning ${REFUND_COLUMNS}`,
        [orderId, request.refundKey, amountRupiah, request.reason, request.reject ? 'rejected' : 'requested'],
      );
      const refund = expectOne(inserted.rows);
      const refunds = [...found.refunds, refund];
      if (request.reject) return { outcome: 'rejected', refund, found: { ...found, refunds } };
      const next = amountRupiah === remainingRupiah ? 'refund' : 'partial_refund';
      return { outcome: 'accepted', refund, found: await this.#setStatus(client, { ...found, refunds }, next) };
    };
    return this.#change(id, refundThis, serverKey);
  }

  /** Applies the changes that time causes: expiry, confirmation of refunds, customers of magic amounts. */
  async sweep(): Promise<void> {
    const overdue = await this.pool.query<{ orderId: string }>(
      `select order_id as "orderId" from payments where status = 'pending' and expires_at <= now() limit 200`,
    );
    for (const { orderId } of overdue.rows) await this.#change(orderId, (_client, found) => Promise.resolve(found));
    // In seconds: an interval cannot represent every delay that the API accepts.
    const confirmable = await this.pool.query<{ orderId: string }>(
      `select distinct order_id as "orderId" from refunds, bank
       where status = 'requested'
         and extract(epoch from now() - created_at) >= refund_confirms_after_seconds
       limit 200`,
    );
    for (const { orderId } of confirmable.rows) await this.#confirmRefunds(orderId);
    for (const orderId of await this.#findAutoPaying()) await this.pay(orderId, 1);
  }

  /** Time from a refund's request to its confirmation by the bank. */
  async bankDelaySeconds(): Promise<number> {
    const { rows } = await this.pool.query<{ seconds: number }>(
      'select refund_confirms_after_seconds as seconds from bank',
    );
    return expectOne(rows).seconds;
  }

  /** Applies to all refunds that are not yet confirmed, earlier ones included. */
  async setBankDelaySeconds(seconds: number): Promise<void> {
    await this.pool.query('update bank set refund_confirms_after_seconds = $1', [seconds]);
  }

  /** Orders over a magic amount whose customer pays now. */
  async #findAutoPaying(): Promise<string[]> {
    const [inTime, late] = [totalsOf('pays').join(', '), totalsOf('pays_late').join(', ')];
    // Literal totals, as in the partial index: PostgreSQL would not use the index for parameters.
    const { rows } = await this.pool.query<{ orderId: string }>(
      `select order_id as "orderId" from payments
       where paid_at is null and gross_amount_rupiah in (${inTime}, ${late}) and (
         gross_amount_rupiah in (${inTime}) and status = 'pending'
           and charged_at <= now() - ${AUTO_PAY_DELAY_SECONDS} * interval '1 second'
         or gross_amount_rupiah in (${late}) and ended_at <= now() - ${LATE_PAY_DELAY_SECONDS} * interval '1 second')
       order by charged_at limit 200`,
    );
    return rows.map(({ orderId }) => orderId);
  }

  /** The orders whose id contains the text, newest first. */
  async list(limit: number | null = null, text = ''): Promise<OrderWithRefunds[]> {
    const orders = await this.pool.query<Order>(
      `select ${ORDER_COLUMNS} from payments where position(upper($2) in upper(order_id)) > 0
       order by charged_at desc, order_id limit $1`,
      [limit, text],
    );
    const refunds = await this.pool.query<OrderRefund & { orderId: string }>(
      `select ${REFUND_COLUMNS}, order_id as "orderId" from refunds where order_id = any($1) order by chargeback_id`,
      [orders.rows.map((order) => order.orderId)],
    );
    const byOrder = new Map<string, OrderRefund[]>();
    for (const { orderId, ...refund } of refunds.rows) byOrder.set(orderId, [...(byOrder.get(orderId) ?? []), refund]);
    return orders.rows.map((order) => ({ order, refunds: byOrder.get(order.orderId) ?? [] }));
  }

  /** The orders that a customer can pay in time, newest first. */
  async listPayable(limit: number): Promise<Order[]> {
    const { rows } = await this.pool.query<Order>(
      `select ${ORDER_COLUMNS} from payments where status = 'pending' and expires_at > now()
       order by charged_at desc, order_id limit $1`,
      [limit],
    );
    return rows;
  }

  /** Locks the order, expires it if overdue, and runs `work` on it; all in one transaction. */
  async #change<T>(id: string, work: OrderChange<T>, serverKey?: string): Promise<T | null> {
    return inTransaction(this.pool, async (client) => {
      const locked = await client.query<CurrentOrder>({
        name: 'lock',
        text: `select ${CURRENT_ORDER_COLUMNS} from payments where ${IS_ORDER} for update`,
        values: [id, serverKey],
      });
      const row = locked.rows[0];
      if (!row) return null;
      const { isOverdue, ...order } = row;
      const found = { order, refunds: await readRefunds(client, order) };
      return work(client, isOverdue ? await this.#setStatus(client, found, 'expire') : found);
    });
  }

  async #setStatus(client: PoolClient, found: OrderWithRefunds, status: OrderStatus, times = 1) {
    const updated = await client.query<Order>({
      name: 'set_status',
      text: `update payments set status = $2,
               paid_at = coalesce(paid_at, case when $2 = 'settlement' then clock_timestamp() end),
               ended_at = coalesce(ended_at, case when $2 in ('expire', 'cancel') then clock_timestamp() end)
             where order_id = $1 returning ${ORDER_COLUMNS}`,
      values: [found.order.orderId, status],
    });
    const changed = { order: expectOne(updated.rows), refunds: found.refunds };
    await enqueueNotifications(client, changed, times);
    return changed;
  }

  async #confirmRefunds(orderId: string): Promise<void> {
    await this.#change(orderId, async (client, { order }) => {
      const confirmed = await client.query(
        `update refunds set status = 'confirmed', confirmed_at = now() where order_id = $1 and status = 'requested'`,
        [orderId],
      );
      if (confirmed.rowCount === 0) return;
      await enqueueNotifications(client, { order, refunds: await readRefunds(client, order) }, 1);
    });
  }
}

export interface OrderRefundRequest {
  readonly refundKey: string;
  /** Null for the remaining amount. */
  readonly amountRupiah: number | null;
  readonly reason: string;
  readonly reject: boolean;
}

export type RefundResult = { readonly found: OrderWithRefunds } & (
  | { readonly outcome: 'accepted' | 'rejected'; readonly refund: OrderRefund }
  | { readonly outcome: 'not_refundable' }
  | { readonly outcome: 'amount_too_high' }
);
