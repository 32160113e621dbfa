import { findTerms } from '../db/reads/find-terms';
import { findEndedPayment } from '../db/reads/find-ended-payment';
import type { Queryable } from '../db/pool';
import type { PaymentsEngine } from './payments-engine';

/**
 * The provider has news of a payment: its workflow asks what it is; after the end of that life, the workflow for late money
 * does. `no_workflow`: its life goes on in PostgreSQL, and Temporal has lost it (`lunas recover`).
 */
export async function tellNews(
  db: Queryable,
  engine: PaymentsEngine,
  paymentId: string,
): Promise<'told' | 'no_workflow'> {
  if ((await engine.reportPaid(paymentId)) === 'signalled') return 'told';
  if (!(await findEndedPayment(db, paymentId))) return 'no_workflow';
  await engine.checkLatePayment(await findTerms(db, paymentId));
  return 'told';
}
