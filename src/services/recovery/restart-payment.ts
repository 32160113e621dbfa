import type { Queryable } from '../../db/connection/pool';
import { findCreationResult } from '../../db/payments/find-creation-result';
import { findOpenPayment, type OpenPayment } from '../../db/payments/list-open-payments';
import { readState } from '../../db/transitions/payment-state';
import { isFinal, PAYMENT_STATUSES } from '../../domain/payment-transitions';
import type { WorkflowRecord } from '../../domain/reconciliation';
import type { CreationResult } from '../../domain/workflow-step';
import { ConflictError } from '../../errors';
import type { Logger } from '../../observability/logger';
import { paymentIds } from '../../temporal/log-payment';
import type { PaymentWorkflowClient } from '../../temporal/payment-workflow-client';
import type { DescribedWorkflow, WorkflowRecords } from '../../temporal/workflow-records';

/** What starts the workflow of one payment again. */
export interface WorkflowStarter extends Pick<PaymentWorkflowClient, 'resumePayment' | 'restartPayment'> {
  readonly records: Pick<WorkflowRecords, 'describe'>;
}

interface StartedPayment extends OpenPayment {
  /** The response to the creation, if PostgreSQL may have lost it and the workflow before had it. */
  readonly creation?: CreationResult | undefined;
}

/**
 * Starts the workflow of an open payment at the state in PostgreSQL. If there was one, it queries the provider first.
 * @param workflow what Temporal has of it, which does not run
 */
export async function startFromRow(
  db: Queryable,
  workflows: Pick<WorkflowStarter, 'resumePayment' | 'restartPayment'>,
  { terms, creation: lost, ...listed }: StartedPayment,
  workflow: WorkflowRecord | null,
): Promise<'rebuilt' | 'running'> {
  const { paymentId } = terms;
  const creation = (await findCreationResult(db, paymentId)) ?? lost;
  const resumeState = { ...listed, ...(creation && { creation }) };
  if (workflow === null) return workflows.resumePayment(terms, resumeState);
  // The payment may have become final since it was read.
  const state = await readState(db, paymentId);
  if (isFinal(state.status)) return 'running';
  await workflows.restartPayment(terms, { ...resumeState, state });
  return 'rebuilt';
}

export interface RestartDependencies {
  readonly db: Queryable;
  readonly workflows: WorkflowStarter;
  readonly log?: Pick<Logger, 'warn'> | undefined;
}

/** `running`: nothing was lost. `started`: it is now. `not_open`: the payment is final, archived or unknown. */
export type Restart = 'running' | 'started' | 'not_open';

/**
 * Starts the workflow of a payment again if the payment is open in PostgreSQL and Temporal has no running workflow of
 * it: it was terminated or deleted, or Temporal lost it. Safe for concurrent callers. Logs the start.
 * @throws ConflictError if PostgreSQL lacks something that the closed workflow had done: only `recover` restores that
 */
export async function restartIfLost({ db, workflows, log }: RestartDependencies, paymentId: string): Promise<Restart> {
  const workflow = await workflows.records.describe(paymentId);
  if (workflow?.isRunning) return 'running';
  // Read after the workflow: one that completes has recorded its last status before.
  const open = await findOpenPayment(db, paymentId);
  if (!open) return 'not_open';
  if (workflow !== null && isBehind(open, workflow)) {
    const difference = `It is "${open.state.status}", and its workflow has ended as "${workflow.status}".`;
    throw new ConflictError('record_behind_workflow', difference);
  }
  if ((await startFromRow(db, workflows, open, workflow)) === 'running') return 'running';
  log?.warn(paymentIds(paymentId), 'lost workflow started again from PostgreSQL');
  return 'started';
}

/** If Temporal has lost the workflow of an open payment, the request is repeated after a new start. */
export async function requestFromLost<Requested extends { readonly outcome: string }>(
  dependencies: RestartDependencies,
  paymentId: string,
  request: () => Promise<Requested>,
): Promise<Requested> {
  const requested = await request();
  if (requested.outcome !== 'no_workflow') return requested;
  return (await restartIfLost(dependencies, paymentId)) === 'not_open' ? requested : request();
}

/** PostgreSQL was restored to an earlier time, or an acknowledged commit was lost. */
function isBehind({ state }: OpenPayment, { status, closed }: DescribedWorkflow): boolean {
  if (closed?.state === 'completed' || isFinalStatus(status)) return true;
  return state.status === 'created' && status !== null && status !== 'created';
}

/** @param text a search attribute: any text */
export function isFinalStatus(text: string | null): boolean {
  const status = PAYMENT_STATUSES.find((status) => status === text);
  return status !== undefined && isFinal(status);
}
