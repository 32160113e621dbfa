import type { Queryable } from '../pool';
import { PAYMENT_COLUMNS, type PaymentRow } from './payment-row';

/**
 * What the creation of a payment was answered with. Only the status and its instant can have changed since, and the
 * payment's second transition (`issue` or `reject`) keeps both: null while that is still to come.
 */
export interface FirstAnswer {
  readonly payment: PaymentRow;
  readonly answered: { readonly status: 'pending' | 'failed'; readonly at: Date } | null;
}

type FirstAnswerRow = PaymentRow & { answeredStatus: 'pending' | 'failed' | null; answeredAt: Date | null };

const FIRST_ANSWERS = `
  select ${PAYMENT_COLUMNS}, answer.to_status as "answeredStatus", answer.occurred_at as "answeredAt"
  from payments
  left join payment_transitions answer on answer.payment_id = payments.id and answer.version = 2`;

/** Not the statement of many with one of them: PostgreSQL plans that anew at each execution, for as long as it takes. */
export async function findFirstAnswer(db: Queryable, paymentId: string): Promise<FirstAnswer | undefined> {
  const { rows } = await db.query<FirstAnswerRow>({
    name: 'find_first_answer',
    text: `${FIRST_ANSWERS} where payments.id = $1`,
    values: [paymentId],
  });
  return rows[0] && firstAnswerOf(rows[0]);
}

/** Those that there are, by payment id. */
export async function findFirstAnswers(
  db: Queryable,
  paymentIds: readonly string[],
): Promise<ReadonlyMap<string, FirstAnswer>> {
  const { rows } = await db.query<FirstAnswerRow>({
    name: 'find_first_answers',
    text: `${FIRST_ANSWERS} where payments.id = any ($1)`,
    values: [paymentIds],
  });
  return new Map(rows.map((row) => [row.id, firstAnswerOf(row)]));
}

function firstAnswerOf({ answeredStatus, answeredAt, ...payment }: FirstAnswerRow): FirstAnswer {
  return { payment, answered: answeredStatus && answeredAt ? { status: answeredStatus, at: answeredAt } : null };
}
