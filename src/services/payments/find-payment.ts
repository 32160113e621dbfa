import { z } from 'zod';
import type { Queryable } from '../../db/connection/pool';
import { findArchivedPayment, type ArchivedPayment } from '../../db/operations/archive';
import { findAnyPayment, findMerchantPayment, type PaymentKey } from '../../db/payments/find-payment';
import { PAYMENT_COLUMNS, type PaymentRow } from '../../db/payments/payment-row';
import type { Scope } from '../../domain/actor';
import { ArchivedError, ConflictError, NotFoundError, OrderIdError } from '../../errors';
import { logPayment } from '../../temporal/log-payment';
import { archiveFileName } from '../archive/archive-file';
import { listPayments } from './list-payments';
import { parsePathId } from './path-id';

/** A payment, or what is known of it without its row. */
type LookedUpPayment =
  | { readonly outcome: 'found'; readonly payment: PaymentRow }
  | { readonly outcome: 'archived'; readonly archived: ArchivedPayment }
  /** No key: the text is neither a UUID nor a `reference_id`. */
  | { readonly outcome: 'missing'; readonly key: PaymentKey | undefined };

/**
 * The payment that a path or a command names, as far as the scope reaches: another merchant's payment is missing.
 * @param idOrReference its UUID or `reference_id`
 */
export async function lookUpPayment(db: Queryable, scope: Scope, idOrReference: string): Promise<LookedUpPayment> {
  const key = scope === 'all' ? keyOf(idOrReference) : parsePathId(idOrReference);
  if (key === undefined) return { outcome: 'missing', key };
  const payment = await (scope === 'all' ? findAnyPayment(db, key) : findMerchantPayment(db, scope.merchantId, key));
  if (payment) {
    logPayment(payment.id);
    return { outcome: 'found', payment };
  }
  const archived = await findArchivedPayment(db, key);
  const isReached = scope === 'all' || archived?.merchantId === scope.merchantId;
  return archived && isReached ? { outcome: 'archived', archived } : { outcome: 'missing', key };
}

/** A command takes any text: the stored references have the last word. */
function keyOf(idOrReference: string): PaymentKey {
  return z.guid().safeParse(idOrReference).success ? { id: idOrReference } : { referenceId: idOrReference };
}

/**
 * A payment that a person reaches.
 * @param idOrReference its UUID or `reference_id`
 * @throws NotFoundError if there is none: ArchivedError if it is archived, OrderIdError if an operator named an order
 * id of the merchant's own
 */
export async function findPayment(db: Queryable, scope: Scope, idOrReference: string): Promise<PaymentRow> {
  const found = await lookUpPayment(db, scope, idOrReference);
  switch (found.outcome) {
    case 'found':
      return found.payment;
    case 'archived':
      throw archivedError(idOrReference, found.archived);
    case 'missing':
      throw scope === 'all' ? await whyMissing(db, idOrReference) : new NotFoundError('payment', idOrReference);
  }
}

/**
 * A payment by its id or reference, also by the merchant's own id of the order (`merchant_reference_id`), and the id of
 * a request (`X-Request-Id`) that created the payment or changed it. Callers choose both, so an action never takes one.
 * @throws ConflictError that names the payments if there are several
 */
export async function findPaymentOfAnyId(db: Queryable, anyId: string): Promise<PaymentRow> {
  const found = await listPaymentsOfAnyId(db, anyId);
  const [payment] = found;
  if (payment !== undefined && found.length === 1) {
    logPayment(payment.id);
    return payment;
  }
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
  const lookedUp = await lookUpPayment(db, 'all', anyId);
  if (lookedUp.outcome === 'found') return [lookedUp.payment];
  const [ofRequest, ofOrder] = await Promise.all([
    findByRequest(db, anyId),
    listPayments(db, { merchantReferenceId: anyId, limit: MAX_OF_ID + 1 }),
  ]);
  const found = [...new Map([...ofRequest, ...ofOrder].map((payment) => [payment.id, payment])).values()];
  if (found.length === 0) {
    throw lookedUp.outcome === 'archived'
      ? archivedError(anyId, lookedUp.archived)
      : new NotFoundError('payment', anyId);
  }
  return found.toSorted((one, other) => other.createdAt.getTime() - one.createdAt.getTime());
}

function archivedError(given: string, { file }: ArchivedPayment): ArchivedError {
  return new ArchivedError(given, archiveFileName(file));
}

/** How many payments of an order are named. */
const MAX_IN_MESSAGE = 5;

async function whyMissing(db: Queryable, given: string): Promise<NotFoundError> {
  const ofOrder = await listPayments(db, { merchantReferenceId: given, limit: MAX_IN_MESSAGE });
  if (ofOrder.length === 0) return new NotFoundError('payment', given);
  return new OrderIdError(
    given,
    ofOrder.map(({ referenceId }) => referenceId),
  );
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
