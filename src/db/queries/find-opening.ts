import type { Opening } from '../../domain/workflow-step';
import type { Queryable } from '../connection/pool';

interface OpeningRow {
  readonly at: Date;
  readonly qrisPayload: string | null;
  readonly providerTransactionId: string | null;
  readonly failureReason: string | null;
}

/** The result of a payment's creation; undefined until it is recorded. */
export async function findOpening(db: Queryable, paymentId: string): Promise<Opening | undefined> {
  const { rows } = await db.query<OpeningRow>({
    name: 'find_opening',
    text: `select transition.occurred_at as at, payments.qris_payload as "qrisPayload",
        payments.provider_transaction_id as "providerTransactionId", payments.failure_reason as "failureReason"
      from payments
      join payment_transitions transition on transition.payment_id = payments.id and transition.version = 2
      where payments.id = $1`,
    values: [paymentId],
  });
  return rows[0] && openingOf(rows[0]);
}

function openingOf({ at, qrisPayload, providerTransactionId, failureReason }: OpeningRow): Opening {
  const atMs = at.getTime();
  if (qrisPayload !== null && providerTransactionId !== null) {
    return { outcome: 'issued', atMs, qrisPayload, providerTransactionId };
  }
  return { outcome: 'rejected', atMs, reason: failureReason ?? 'unknown' };
}
