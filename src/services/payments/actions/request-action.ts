import { setTimeout as sleep } from 'node:timers/promises';
import type { PaymentRow } from '../../../db/payments/payment-row';
import { readState } from '../../../db/transitions/payment-state';
import type { StepActor } from '../../../domain/actor';
import type { PaymentState } from '../../../domain/payment';
import {
  findRejection,
  rejectionReason,
  type PaymentAction,
  type RejectionCode,
} from '../../../domain/payment-actions';
import { ConflictError } from '../../../errors';
import type { KeyedMutex } from '../../../lib/keyed-mutex';
import type { PaymentWorkflowClient, RequestOutcome } from '../../../temporal/payment-workflow-client';
import { requestFromLost, type RestartDependencies, type WorkflowStarter } from '../../recovery/restart-payment';

/**
 * Temporal needs 3 s to detect the death of a worker. Until then PostgreSQL may contain a step of which the workflow
 * has no result yet.
 */
const CATCH_UP_ATTEMPTS = 16;
const CATCH_UP_PAUSE_MS = 250;

type PaymentActionClient = WorkflowStarter &
  Pick<PaymentWorkflowClient, 'request' | 'signalProviderUpdate'> & {
    readonly withDeadline: (deadlineAtMs: number) => PaymentActionClient;
  };

export interface RequestDependencies extends Pick<RestartDependencies, 'db' | 'log'> {
  readonly workflows: PaymentActionClient;
}

/** A payment, with its latest refund if the requester learns why that prevents the action. */
export type ActionPayment = PaymentRow & PaymentState;

/** A request of a merchant or of an operator for an action on a payment. */
interface ActionRequest {
  readonly action: PaymentAction;
  readonly actor: StepActor;
  readonly paymentId: string;
  /** Reads the payment. @throws if the requester reaches none */
  readonly find: () => Promise<ActionPayment>;
}

/** The payment does not allow the action. */
export interface NotAllowed {
  readonly outcome: 'rejected';
  readonly code: RejectionCode;
  /** The sentence of the API and of the workflow. */
  readonly reason: string;
}

/** The payment after the action, or why nothing was done to it. */
type ActionResult = { readonly outcome: 'done'; readonly payment: PaymentRow } | NotAllowed;

/**
 * Requests the action after the earlier requests for the payment. So of twenty concurrent requests Temporal, which
 * accepts ten per workflow, receives one.
 * @throws as `requestAction`
 */
export function requestActionInTurn(
  { db, workflows, paymentMutex, log }: RequestDependencies & { readonly paymentMutex: KeyedMutex },
  request: ActionRequest,
): Promise<ActionResult> {
  return paymentMutex.runExclusive(request.paymentId, (deadlineAtMs) =>
    requestAction(beforeDeadline({ needs: { db, workflows, log }, deadlineAtMs }), request),
  );
}

/** The dependencies of an action, which ends when its caller no longer waits. */
export function beforeDeadline<Needs extends Pick<RequestDependencies, 'workflows'>>({
  needs,
  deadlineAtMs,
}: {
  readonly needs: Needs;
  readonly deadlineAtMs: number | null;
}): Needs {
  if (deadlineAtMs === null) return needs;
  return { ...needs, workflows: needs.workflows.withDeadline(deadlineAtMs) };
}

/**
 * Requests an action of the payment's workflow, for every door. The payment is read first.
 * @throws ConflictError if the workflow is lost again, after it was started again
 * @throws Error if the outcome is not known
 */
export async function requestAction(dependencies: RequestDependencies, request: ActionRequest): Promise<ActionResult> {
  const { db, workflows } = dependencies;
  const { action, paymentId, find } = request;
  const requested = await requestFromLost(dependencies, paymentId, () => requestWithCatchUp(workflows, request));
  if ('code' in requested) return requested;
  const payment = await find();
  switch (requested.outcome) {
    case 'done':
      return { outcome: 'done', payment: { ...payment, status: requested.status } };
    case 'rejected': {
      const rejection = findRejection(action, payment, await readState(db, paymentId), Date.now());
      return { outcome: 'rejected', code: rejection?.code ?? 'other_status', reason: requested.reason };
    }
    case 'no_workflow':
      return rejectionByRow(action, payment) ?? throwLost(payment);
  }
}

function throwLost({ status }: PaymentRow): never {
  const lost = `It is "${status}", and its workflow was lost again. Repeat this in a minute.`;
  throw new ConflictError('not_allowed', lost);
}

/**
 * If the workflow rejects the request in an outdated status, the request is repeated after the workflow has caught up:
 * with its own repeat of the step, or, if Temporal has lost that step, with PostgreSQL.
 */
async function requestWithCatchUp(
  client: PaymentActionClient,
  { action, actor, find }: ActionRequest,
): Promise<RequestOutcome | NotAllowed> {
  for (let attemptsLeft = CATCH_UP_ATTEMPTS; ; attemptsLeft -= 1) {
    const payment = await find();
    const rejection = rejectionByRow(action, payment);
    if (rejection !== null) return rejection;
    const requested = await client.request(payment, action, actor);
    if (requested.outcome !== 'rejected' || requested.status === undefined || attemptsLeft === 0) return requested;
    if (requested.status === (await find()).status) return requested;
    if (attemptsLeft === CATCH_UP_ATTEMPTS) await client.signalProviderUpdate(payment.id);
    await sleep(CATCH_UP_PAUSE_MS);
  }
}

/** Why the payment as it was read does not allow the action; null: it does. */
export function rejectionByRow(action: PaymentAction, payment: ActionPayment): NotAllowed | null {
  const nowMs = Date.now();
  const rejection = findRejection(action, payment, payment, nowMs);
  if (rejection === null) return null;
  const { code } = rejection;
  return { outcome: 'rejected', code, reason: rejectionReason(action, payment, payment, nowMs) ?? code };
}
