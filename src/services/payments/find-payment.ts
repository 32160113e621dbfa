import { z } from 'zod';
import type { Queryable } from '../../db/connection/pool';
import { findArchivedPayment } from '../../db/operations/archive';
import { findMerchantPayment, type PaymentKey } from '../../db/payments/find-payment';
import { PAYMENT_COLUMNS, type PaymentRow } from '../../db/payments/payment-row';
import type { Scope } from '../../domain/actor';
import { ArchivedError, ConflictError, NotFoundError, OrderIdError } from '../../errors';
import { logPayment } from '../../temporal/log-payment';
import { archiveFileName } from '../archive/archive-file';
import { listPayments } from './list-payments';
import { parsePathId } from './path-id';

/**
 * A payment of any merchant.
 * @param idOrReference its UUID or `reference_id`
 * @throws NotFoundError if there is no such payment, OrderIdError if it is an order id of the merchant's own
 */
export async function findPayment(db: Queryable, idOrReference: string): Promise<PaymentRow> {
  return requirePayment(db, await findByIdOrReference(db, idOrReference), idOrReference);
}

/** A payment that a person reaches, as `findPayment`. @throws NotFoundError if there is no such payment */
export async function findPaymentIn(db: Queryable, scope: Scope, idOrReference: string): Promise<PaymentRow> {
  if (scope === 'all') return findPayment(db, idOrReference);
  const key = parsePathId(idOrReference);
  const payment = key && (await findMerchantPayment(db, scope.merchantId, key));
  if (!payment) throw new NotFoundError('payment', idOrReference);
  logPayment(payment.id);
  return payment;
}

/**
 * A payment by its id or reference, also by the merchant's own id of the order (`merchant_reference_id`), and the id of
 * a request (`X-Request-Id`) that created the payment or changed it. Callers choose both, so an action never takes one.
 * @throws ConflictError that names the payments if there are several
 */
export async function findPaymentOfAnyId(db: Queryable, anyId: string): Promise<PaymentRow> {
  const found = await listPaymentsOfAnyId(db, anyId);
  if (found.length === 1) return requirePayment(db, found, anyId);
  const references = found.slice(0, MAX_OF_ID).map(({ referenceId }) => referenceId);
  const more = found.length > references.length ? ' and more' : '';
  const text = `Several payments have this id: ${references.join(', ')}${more}. Show one of them.`;
  throw new ConflictError('ambiguous', text);
}

/**
 * All payments that `findPaymentOfAnyId` could mean, newest first.
 * @throws NotFoundError if there are none
 */
export async function listPaymentsOfAnyId(db: Queryable, anyId: string): Promise<PaymentRow[]> {
  const rows = await findByIdOrReference(db, anyId);
  if (rows.length > 0) return rows;
  const [ofRequest, ofOrder] = await Promise.all([
    findByRequest(db, anyId),
    listPayments(db, { merchantReferenceId: anyId, limit: MAX_OF_ID + 1 }),
  ]);
  const found = [...new Map([...ofRequest, ...ofOrder].map((payment) => [payment.id, payment])).values()];
  if (found.length === 0) throw await whyMissing(db, anyId);
  return found.toSorted((one, other) => other.createdAt.getTime() - one.createdAt.getTime());
}

async function requirePayment(db: Queryable, rows: PaymentRow[], given: string): Promise<PaymentRow> {
  const [payment] = rows;
  if (payment === undefined) throw await whyMissing(db, given);
  logPayment(payment.id);
  return payment;
}

/** How many payments of an order are named. */
const MAX_IN_MESSAGE = 5;

async function whyMissing(db: Queryable, given: string): Promise<NotFoundError> {
  const archived = await findArchivedPayment(db, keyOf(given));
  if (archived) return new ArchivedError(given, archiveFileName(archived.file));
  const ofOrder = await listPayments(db, { merchantReferenceId: given, limit: MAX_IN_MESSAGE });
  if (ofOrder.length === 0) return new NotFoundError('payment', given);
  return new OrderIdError(
    given,
    ofOrder.map(({ referenceId }) => referenceId),
  );
}

function keyOf(idOrReference: string): PaymentKey {
  return z.guid().safeParse(idOrReference).success ? { id: idOrReference } : { referenceId: idOrReference };
}

async function findByIdOrReference(db: Queryable, idOrReference: string): Promise<PaymentRow[]> {
  const column = 'id' in keyOf(idOrReference) ? 'id' : 'reference_id';
  const { rows } = await db.query<PaymentRow>(`select ${PAYMENT_COLUMNS} from payments where ${column} = $1`, [
    idOrReference,
  ]);
  return rows;
}

/** The payments of a bulk. A caller can use one id for any number of requests and orders. */
const MAX_OF_ID = 50;

/** The condition on the version and the actor is that of the index. */
const CHANGED_BY_REQUEST = `id in (
  select payment_id from payment_transitions
  where request_id = $1 and (version = 1 or actor <> 'workflow') limit $2
)`;

async function findByRequest(db: Queryable, requestId: string): Promise<PaymentRow[]> {
  const { rows } = await db.query<PaymentRow>(`select ${PAYMENT_COLUMNS} from payments where ${CHANGED_BY_REQUEST}`, [
    requestId,
    MAX_OF_ID + 1,
  ]);
  return rows;
}

/** The payments that a request created, changed or named in its path; at most 50 of those that it changed. */
export async function listPaymentsOfRequest(
  db: Queryable,
  { requestId, paymentIds }: { readonly requestId: string; readonly paymentIds: readonly string[] },
): Promise<PaymentRow[]> {
  const { rows } = await db.query<PaymentRow>(
    `select ${PAYMENT_COLUMNS} from payments where ${CHANGED_BY_REQUEST} or id = any($3::uuid[])
     order by created_at, id`,
    [requestId, MAX_OF_ID, paymentIds],
  );
  return rows;
}
