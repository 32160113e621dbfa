import type { Queryable } from '../connection/pool';
import { PAYMENT_COLUMNS, type PaymentRow } from './payment-row';

/**
 * The data of a creation's original response. Only the status and its timestamp can have changed since. The payment's
 * second transition (`issue` or `fail_creation`) has both; null until it is recorded.
 */
export interface OriginalResponse {
  readonly payment: PaymentRow;
  readonly original: { readonly status: 'pending' | 'failed'; readonly at: Date } | null;
}

/** `archived`: the payment exists no more, and its idempotency key stays taken (`lunas archive`). */
export type EarlierCreation = OriginalResponse | 'archived';

type OriginalResponseRow =
  | { readonly wantedId: string; readonly isArchived: true }
  | (PaymentRow & {
      readonly wantedId: string;
      readonly isArchived: false;
      readonly originalStatus: 'pending' | 'failed' | null;
      readonly originalAt: Date | null;
    });

/** @param wanted a relation with the column `id` */
const originalResponses = (wanted: string): string => `
  select wanted.id as "wantedId", archived.payment_id is not null as "isArchived", ${PAYMENT_COLUMNS},
    original.to_status as "originalStatus", original.occurred_at as "originalAt"
  from ${wanted} wanted
  left join payments on payments.id = wanted.id
  left join payment_transitions original on original.payment_id = payments.id and original.version = 2
  left join archived_payments archived on archived.payment_id = wanted.id
  where payments.id is not null or archived.payment_id is not null`;

/** A statement of its own: PostgreSQL plans the statement with several again at each execution, which costs more. */
export async function findOriginalResponse(db: Queryable, paymentId: string): Promise<EarlierCreation | undefined> {
  const { rows } = await db.query<OriginalResponseRow>({
    name: 'find_original_response',
    text: originalResponses('(select $1::uuid as id)'),
    values: [paymentId],
  });
  return rows[0] && toEarlierCreation(rows[0]);
}

/** The responses by payment id; payments that never existed are absent. */
export async function findOriginalResponses(
  db: Queryable,
  paymentIds: readonly string[],
): Promise<ReadonlyMap<string, EarlierCreation>> {
  const { rows } = await db.query<OriginalResponseRow>({
    name: 'find_original_responses',
    text: originalResponses('(select unnest($1::uuid[]) as id)'),
    values: [paymentIds],
  });
  return new Map(rows.map((row) => [row.wantedId, toEarlierCreation(row)]));
}

function toEarlierCreation(row: OriginalResponseRow): EarlierCreation {
  if (row.isArchived) return 'archived';
  const { wantedId: _, isArchived: __, originalStatus, originalAt, ...payment } = row;
  return { payment, original: originalStatus && originalAt ? { status: originalStatus, at: originalAt } : null };
}
