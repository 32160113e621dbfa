import { setTimeout as sleep } from 'node:timers/promises';
import type { PaymentRow } from '../../db/payments/payment-row';
import { readState } from '../../db/transitions/payment-state';
import type { StepActor } from '../../domain/actor';
import {
  findRejection,
  rejectionReason,
  type ActionRejection,
  type MerchantPaymentAction,
} from '../../domain/payment-actions';
import { UserError } from '../../errors';
import type { KeyedMutex } from '../../lib/keyed-mutex';
import type { PaymentWorkflowClient, RequestOutcome } from '../../temporal/payment-workflow-client';
import { requestFromLost, type RestartDependencies } from '../recovery/restart-payment';

/**
 * Temporal needs 3 s to detect the death of a worker. Until then PostgreSQL may contain a step of which the workflow
 * has no result yet.
 */
const CATCH_UP_ATTEMPTS = 16;
const CATCH_UP_PAUSE_MS = 250;

/** The payment does not allow the action. The message is the sentence of the API. */
export class ActionRejectedError extends UserError {
  constructor(
    readonly rejection: ActionRejection,
    reason: string,
  ) {
    super(reason);
  }
}

interface ActionDependencies extends Pick<RestartDependencies, 'db' | 'log'> {
  readonly workflows: PaymentWorkflowClient;
  readonly paymentMutex: KeyedMutex;
}

type ActionClient = RestartDependencies['workflows'] & Pick<PaymentWorkflowClient, 'request' | 'signalProviderUpdate'>;

/** A merchant's request for an action on one of its payments. */
export interface MerchantActionRequest {
  readonly action: MerchantPaymentAction;
  readonly actor: StepActor;
  readonly paymentId: string;
  /** Reads the payment. @throws if the merchant has none */
  readonly find: () => Promise<PaymentRow>;
}

/**
 * Performs a merchant's action. Requests for one payment are executed one after the other, and each reads the payment
 * first. So of twenty concurrent requests Temporal, which accepts ten per workflow, receives one.
 * @returns the payment after the action
 * @throws ActionRejectedError if the payment does not allow the action, Error if the outcome is not known
 */
export function requestPaymentAction(
  { db, workflows, paymentMutex, log }: ActionDependencies,
  request: MerchantActionRequest,
): Promise<PaymentRow> {
  return paymentMutex.runExclusive(request.paymentId, (deadlineAtMs) =>
    requestInTurn({ db, workflows: workflows.withDeadline(deadlineAtMs), log }, request),
  );
}

/** Performs the action for a caller that executes the requests for one payment one after the other by itself. */
export async function requestInTurn(
  dependencies: Pick<RestartDependencies, 'db' | 'log'> & { readonly workflows: ActionClient },
  request: MerchantActionRequest,
): Promise<PaymentRow> {
  const { db, workflows } = dependencies;
  const { paymentId, find } = request;
  const requested = await requestFromLost(dependencies, paymentId, () => requestWithCatchUp(workflows, request));
  const now = await find();
  if (requested.outcome === 'done') return { ...now, status: requested.status };
  if (requested.outcome === 'rejected') {
    const state = await readState(db, paymentId);
    const rejection = findRejection(request.action, now, state, Date.now()) ?? { code: 'other_status' };
    throw new ActionRejectedError(rejection, requested.reason);
  }
  assertAllowed(request, now);
  throw new Error(`Payment ${paymentId} is "${now.status}", and its workflow was lost again`);
}

/**
 * If the workflow rejects the request in an outdated status, the request is repeated after the workflow has caught up:
 * with its own repeat of the step, or, if Temporal has lost that step, with PostgreSQL.
 */
async function requestWithCatchUp(client: ActionClient, request: MerchantActionRequest): Promise<RequestOutcome> {
  const { action, actor, find } = request;
  for (let attemptsLeft = CATCH_UP_ATTEMPTS; ; attemptsLeft -= 1) {
    const payment = await find();
    assertAllowed(request, payment);
    const requested = await client.request(payment, action, actor);
    if (requested.outcome !== 'rejected' || requested.status === undefined || attemptsLeft === 0) return requested;
    if (requested.status === (await find()).status) return requested;
    if (attemptsLeft === CATCH_UP_ATTEMPTS) await client.signalProviderUpdate(payment.id);
    await sleep(CATCH_UP_PAUSE_MS);
  }
}

function assertAllowed({ action }: Pick<MerchantActionRequest, 'action'>, payment: PaymentRow): void {
  const nowMs = Date.now();
  const rejection = findRejection(action, payment, payment, nowMs);
  if (rejection === null) return;
  throw new ActionRejectedError(rejection, rejectionReason(action, payment, payment, nowMs) ?? rejection.code);
}
