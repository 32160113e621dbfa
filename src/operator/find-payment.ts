import { z } from 'zod';
import type { Queryable } from '../db/pool';
import { PAYMENT_COLUMNS, type PaymentRow } from '../db/queries/payment-row';
import { requireRow } from '../db/require-row';
import { UserError } from '../errors';
import { logPayment } from '../temporal/log-payment';

/**
 * A payment of any merchant.
 * @param idOrReference its UUID or `reference_id`
 * @throws NotFoundError if there is no such payment
 */
export async function findPayment(db: Queryable, idOrReference: string): Promise<PaymentRow> {
  return requirePayment(await findByIdOrReference(db, idOrReference), idOrReference);
}

/**
 * The same, also for the id of a request (`X-Request-Id`) that created the payment or changed it. Callers choose these
 * ids, so an action never takes one.
 * @throws UserError that names the payments if the request concerns several
 */
export async function findPaymentOrRequest(db: Queryable, idOrReferenceOrRequest: string): Promise<PaymentRow> {
  const rows = await findByIdOrReference(db, idOrReferenceOrRequest);
  const found = rows.length > 0 ? rows : await findByRequest(db, idOrReferenceOrRequest);
  if (found.length <= 1) return requirePayment(found, idOrReferenceOrRequest);
  const references = found.slice(0, MAX_OF_REQUEST).map(({ referenceId }) => referenceId);
  const more = found.length > references.length ? ' and more' : '';
  throw new UserError(`Several payments have the request id: ${references.join(', ')}${more}. Show one of them.`);
}

function requirePayment(rows: PaymentRow[], given: string): PaymentRow {
  const payment = requireRow(rows, `There is no payment ${given}; lunas payments list shows the newest.`);
  logPayment(payment.id);
  return payment;
}

async function findByIdOrReference(db: Queryable, idOrReference: string): Promise<PaymentRow[]> {
  const column = z.guid().safeParse(idOrReference).success ? 'id' : 'reference_id';
  const { rows } = await db.query<PaymentRow>(`select ${PAYMENT_COLUMNS} from payments where ${column} = $1`, [
    idOrReference,
  ]);
  return rows;
}

/** The payments of a bulk. A caller can use one id for any number of requests. */
const MAX_OF_REQUEST = 50;

/** The condition on the version and the actor is that of the index. */
const CHANGED_BY_REQUEST = `id in (
  select payment_id from payment_transitions
  where request_id = $1 and (version = 1 or actor <> 'workflow') limit $2
)`;

async function findByRequest(db: Queryable, requestId: string): Promise<PaymentRow[]> {
  const { rows } = await db.query<PaymentRow>(`select ${PAYMENT_COLUMNS} from payments where ${CHANGED_BY_REQUEST}`, [
    requestId,
    MAX_OF_REQUEST + 1,
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
    [requestId, MAX_OF_REQUEST, paymentIds],
  );
  return rows;
}
