import type { CreationResult } from '../../domain/workflow-step';
import type { Queryable } from '../connection/pool';

interface CreationResultRow {
  readonly at: Date;
  readonly qrisPayload: string | null;
  readonly providerTransactionId: string | null;
  readonly failureReason: string | null;
}

/** The result of a payment's creation; undefined until it is recorded. */
export async function findCreationResult(db: Queryable, paymentId: string): Promise<CreationResult | undefined> {
  const { rows } = await db.query<CreationResultRow>({
    name: 'find_creation_result',
    text: `select transition.occurred_at as at, payments.qris_payload as "qrisPayload",
        payments.provider_transaction_id as "providerTransactionId", payments.failure_reason as "failureReason"
      from payments
      join payment_transitions transition on transition.payment_id = payments.id and transition.version = 2
      where payments.id = $1`,
    values: [paymentId],
  });
  return rows[0] && creationResultOf(rows[0]);
}

function creationResultOf({
  at,
  qrisPayload,
  providerTransactionId,
  failureReason,
}: CreationResultRow): CreationResult {
  const atMs = at.getTime();
  if (qrisPayload !== null && providerTransactionId !== null) {
    return { outcome: 'issued', atMs, qrisPayload, providerTransactionId };
  }
  return { outcome: 'rejected', atMs, reason: failureReason ?? 'unknown' };
}
