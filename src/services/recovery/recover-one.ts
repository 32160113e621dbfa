import { validate as isUuid } from 'uuid';
import { paymentWorkflowId, payoutWorkflowId } from '../../../workflows/ids';
import type { Queryable } from '../../db/connection/pool';
import { closeRecoveredOf } from '../../db/operations/close-recovered';
import { findOpenPayment, findUnfinishedLatePayment } from '../../db/payments/list-open-payments';
import type { PaymentRow } from '../../db/payments/payment-row';
import { findPayoutRow, type Payout } from '../../db/payouts/list-payouts';
import type { TransitionContext } from '../../db/transitions/apply-transition';
import { SUBJECT_TABLES } from '../../db/transitions/subjects';
import { isResting } from '../../domain/payout-transitions';
import type { Subject } from '../../domain/subject';
import { NotFoundError } from '../../errors';
import type { PaymentWorkflowClient } from '../../temporal/payment-workflow-client';
import { findPayment } from '../payments/find-payment';
import { attempt, recoverDelivery, recoverPayment, recoverRow, type RecoveryResult } from './recover-item';
import { recoverPayout, recoverPayoutRow } from './recover-payouts';

/** What a recovery did for one payment or payout. */
export interface RecoveredOne {
  readonly subject: string;
  readonly result: RecoveryResult;
  /** How many webhook deliveries returned to the relay. */
  readonly deliveries: number;
  readonly closedExceptions: number;
}

/** What is recovered, and how. */
interface Plan {
  readonly subject: Subject;
  readonly referenceId: string | null;
  readonly recover: () => Promise<RecoveryResult>;
  /** After a recovery that failed. */
  readonly onFailure?: () => Promise<void>;
}

interface RecoverOneDependencies {
  readonly context: TransitionContext;
  readonly workflows: PaymentWorkflowClient;
  /** A payout that PostgreSQL has lost was not written again: its merchant is held. */
  readonly holdLost: (payoutId: string) => Promise<void>;
}

/**
 * Does for one payment or payout what a recovery does for each, and closes the exceptions of what it has restored. A
 * workflow that runs queries the provider.
 * @param idOrReference of a payment or a payout; the id, if PostgreSQL has lost its row
 * @throws NotFoundError if neither PostgreSQL nor Temporal has it
 * @throws Error if it could not be recovered
 */
export async function recoverOne(dependencies: RecoverOneDependencies, idOrReference: string): Promise<RecoveredOne> {
  const { context, workflows } = dependencies;
  const { db } = context;
  const { subject, referenceId, recover, onFailure } = await planOf(dependencies, idOrReference);
  const outcome = await attempt(recover);
  if ('failure' in outcome) {
    await onFailure?.();
    throw new Error(`${idOrReference} was not recovered: ${outcome.failure}`);
  }
  const deliveries = await listRetriedDeliveries(db, subject);
  const results = await Promise.all(deliveries.map((id) => recoverDelivery(context, workflows, id)));
  const workflowId = subject.kind === 'payout' ? payoutWorkflowId(subject.id) : paymentWorkflowId(subject.id);
  return {
    subject: idOrReference,
    result: outcome.result,
    deliveries: results.filter((result) => result === 'rebuilt').length,
    closedExceptions: await closeRecoveredOf(db, [workflowId, ...(referenceId === null ? [] : [referenceId])]),
  };
}

async function planOf(dependencies: RecoverOneDependencies, idOrReference: string): Promise<Plan> {
  const { db } = dependencies.context;
  const payout = await findPayoutRow(db, null, idOrReference);
  if (payout) return planOfPayout(dependencies, payout);
  try {
    return planOfPayment(dependencies, await findPayment(db, 'all', idOrReference));
  } catch (error) {
    const isLost = error instanceof NotFoundError && isUuid(idOrReference);
    const plan = isLost ? await planOfLost(dependencies, idOrReference) : null;
    if (plan === null) throw error;
    return plan;
  }
}

function planOfPayment({ context, workflows }: RecoverOneDependencies, { id, referenceId }: PaymentRow): Plan {
  const { db } = context;
  return {
    subject: { kind: 'payment', id },
    referenceId,
    recover: async () => {
      const open = await findOpenPayment(db, id);
      const result = open && (await recoverPayment(db, workflows, open));
      if (result && result !== 'running') return result;
      const late = await findUnfinishedLatePayment(db, id);
      if (late && (await workflows.resumeLatePayment(late)) === 'rebuilt') return 'rebuilt';
      return recoverRow(context, workflows, { paymentId: id, hasRow: true });
    },
  };
}

function planOfPayout({ workflows: { payouts } }: RecoverOneDependencies, payout: Payout): Plan {
  const { id, merchantId, status, referenceId } = payout;
  return {
    subject: { kind: 'payout', id },
    referenceId,
    recover: async () => {
      const located = { payoutId: id, merchantId, status };
      const workflow = await payouts.records.describe(id);
      if (!workflow?.isRunning) return isResting(status) ? 'running' : recoverPayout(payouts, located);
      await payouts.notify(located);
      return 'notified';
    },
  };
}

/** Null if Temporal has no workflow of the id. */
async function planOfLost({ context, workflows, holdLost }: RecoverOneDependencies, id: string): Promise<Plan | null> {
  const { records, payouts } = workflows;
  if ((await records.describe(id)) !== null) {
    const recover = () => recoverRow(context, workflows, { paymentId: id, hasRow: false });
    return { subject: { kind: 'payment', id }, referenceId: null, recover };
  }
  if ((await payouts.records.describe(id)) === null) return null;
  return {
    subject: { kind: 'payout', id },
    referenceId: null,
    recover: () => recoverPayoutRow(context.db, payouts, { payoutId: id, recorded: undefined }),
    onFailure: () => holdLost(id),
  };
}

/** The pending webhook deliveries of a payment or payout that a retry workflow should have. */
async function listRetriedDeliveries(db: Queryable, { kind, id }: Subject): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select id from webhook_deliveries
     where ${SUBJECT_TABLES[kind].idColumn} = $1 and status = 'pending' and retry_workflow_started_at is not null`,
    [id],
  );
  return rows.map((row) => row.id);
}
