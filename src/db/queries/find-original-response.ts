import type { Queryable } from '../pool';
import { PAYMENT_COLUMNS, type PaymentRow } from './payment-row';

/**
 * The data of a creation's original response. Only the status and its timestamp can have changed since. The payment's
 * second transition (`issue` or `fail_creation`) has both; null until it is recorded.
 */
export interface OriginalResponse {
  readonly payment: PaymentRow;
  readonly original: { readonly status: 'pending' | 'failed'; readonly at: Date } | null;
}

type OriginalResponseRow = PaymentRow & { originalStatus: 'pending' | 'failed' | null; originalAt: Date | null };

const ORIGINAL_RESPONSES = `
  select ${PAYMENT_COLUMNS}, original.to_status as "originalStatus", original.occurred_at as "originalAt"
  from payments
  left join payment_transitions original on original.payment_id = payments.id and original.version = 2`;

/** A statement of its own: PostgreSQL plans the statement with `any` again at each execution, which costs more. */
export async function findOriginalResponse(db: Queryable, paymentId: string): Promise<OriginalResponse | undefined> {
  const { rows } = await db.query<OriginalResponseRow>({
    name: 'find_original_response',
    text: `${ORIGINAL_RESPONSES} where payments.id = $1`,
    values: [paymentId],
  });
  return rows[0] && toOriginalResponse(rows[0]);
}

/** By payment id; payments that do not exist are absent. */
export async function findOriginalResponses(
  db: Queryable,
  paymentIds: readonly string[],
): Promise<ReadonlyMap<string, OriginalResponse>> {
  const { rows } = await db.query<OriginalResponseRow>({
    name: 'find_original_responses',
    text: `${ORIGINAL_RESPONSES} where payments.id = any ($1)`,
    values: [paymentIds],
  });
  return new Map(rows.map((row) => [row.id, toOriginalResponse(row)]));
}

function toOriginalResponse({ originalStatus, originalAt, ...payment }: OriginalResponseRow): OriginalResponse {
  return { payment, original: originalStatus && originalAt ? { status: originalStatus, at: originalAt } : null };
}
