import { z } from 'zod';
import type { Queryable } from '../../../db/connection/pool';
import type { PaymentRow } from '../../../db/payments/payment-row';
import { toStepActor, type Scope } from '../../../domain/actor';
import {
  REJECTION_CODES,
  rejectionReason,
  type OperatorPaymentAction,
  type RejectionCode,
} from '../../../domain/payment-actions';
import { isFinal, type TransitionName } from '../../../domain/payment-transitions';
import { QueueTimeoutError, type KeyedMutex } from '../../../lib/keyed-mutex';
import type { PaymentWorkflowClient } from '../../../temporal/payment-workflow-client';
import type { AuditDependencies } from '../../audit/audit';
import type { Act } from '../../operations/operation-spec';
import {
  done,
  notKnown,
  rejected,
  type Performed,
  type RejectionTexts,
  type Unknown,
} from '../../operations/rejections';
import { requestFromLost, type WorkflowStarter } from '../../recovery/restart-payment';
import { findPayment } from '../find-payment';

type PaymentActionClient = WorkflowStarter &
  Pick<PaymentWorkflowClient, 'request' | 'signalProviderUpdate'> & {
    readonly withDeadline: (deadlineAtMs: number) => PaymentActionClient;
  };

export interface PaymentActionDependencies extends AuditDependencies {
  readonly workflows: PaymentActionClient;
  /** Absent: in a command, which does one thing. */
  readonly paymentMutex?: KeyedMutex;
}

export type PaymentActionResult = Pick<PaymentRow, 'id' | 'referenceId' | 'status'>;
export type OperatorAct = Omit<Act<PaymentActionDependencies, PaymentRow, object>, 'input'>;

/** The UUID or the `reference_id` of a payment. */
export const paymentPath = z.object({ payment: z.string() });

export const ACTION_REASONS = {
  not_possible: { code: z.enum(REJECTION_CODES), text: z.string() },
  superseded: {},
} as const;

export const ACTION_MESSAGES: RejectionTexts<typeof ACTION_REASONS> = {
  not_possible: ({ text }) => text,
  superseded: () => 'The payment has changed since the request: request it again.',
};

/**
 * What the operations of operators on a payment have in common: its workflow performs the action. Operator and note are
 * recorded in the payment's history too.
 */
export function operatorAction(action: OperatorPaymentAction) {
  return {
    path: paymentPath,
    input: z.object({}),
    rejections: ACTION_REASONS,
    messages: ACTION_MESSAGES,
    load: ({ db }: PaymentActionDependencies, _scope: Scope, { payment }: { readonly payment: string }) =>
      findPayment(db, 'all', payment),
    inTurn: inTurnOfPayment,
    target: ({ subject }: Pick<OperatorAct, 'subject'>) => subject.id,
    perform: (act: OperatorAct) => performByOperator(action, act),
  } as const;
}

/** Requests for one payment are executed one after the other, those of merchants included. */
export async function inTurnOfPayment<Done>(
  { db, paymentMutex }: PaymentActionDependencies,
  { path, scope }: { readonly path: z.output<typeof paymentPath>; readonly scope: Scope },
  work: (deadlineAtMs: number | null) => Promise<Done>,
): Promise<Done | Unknown> {
  if (paymentMutex === undefined) return work(null);
  const { id } = await findPayment(db, scope, path.payment);
  return paymentMutex.runExclusive(id, work).catch((error: unknown) => {
    if (error instanceof QueueTimeoutError) return notKnown(error);
    throw error;
  });
}

/** The dependencies of an action, which ends when its caller no longer waits. */
export function beforeDeadline<Needs extends Pick<PaymentActionDependencies, 'workflows'>>({
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
 * What an action has besides that a second operator has to approve. Two operators decide about one version of the
 * payment: else one of them could repeat an approval, whose outcome was not recorded, in another situation.
 */
export function approvedBy(transition: TransitionName) {
  return {
    approval: {
      executes: 'workflow',
      target: ({ subject }: Pick<OperatorAct, 'subject'>) => subject.referenceId,
      path: ({ id }: PaymentRow) => ({ payment: id }),
      amountRupiah: ({ subject }: Pick<OperatorAct, 'subject'>) => subject.totalRupiah,
      merchantId: ({ merchantId }: PaymentRow) => merchantId,
      replaces: ({ version }: PaymentRow) => version,
    },
    // A trigger permits the transition of this version only to the approval.
    async earlier({ needs: { db }, subject, approval }: OperatorAct): Promise<PaymentActionResult | null> {
      if (approval === null || approval.replaces === null) return null;
      const isDone = await wasTransitioned(db, subject.id, { name: transition, version: approval.replaces + 1 });
      return isDone ? resultOf(subject) : null;
    },
  } as const;
}

export async function performByOperator(
  action: OperatorPaymentAction,
  { by, subject: payment, note, approval, ...act }: OperatorAct,
): Promise<Performed<PaymentActionResult, typeof ACTION_REASONS>> {
  const needs = beforeDeadline(act);
  const { db, workflows } = needs;
  const { id } = payment;
  const text = await rejectionOf(workflows, action, payment);
  if (text !== null) return notPossible(text);
  if (approval !== null && approval.replaces !== payment.version) return rejected({ reason: 'superseded' });
  const result = await requestFromLost(needs, id, () => workflows.request(payment, action, toStepActor(by, note)));
  if (result.outcome === 'done') return done({ ...resultOf(payment), status: result.status });
  if (result.outcome === 'rejected') {
    if (result.status !== payment.status) await catchUp(workflows, id);
    return notPossible(result.reason);
  }
  const now = await findPayment(db, 'all', id);
  const lost = `It is "${now.status}", and its workflow was lost again. Repeat this in a minute.`;
  return notPossible((await rejectionOf(workflows, action, now)) ?? lost);
}

/** @param text the sentence of the API and of the workflow */
export function notPossible(text: string, code: RejectionCode = 'other_status') {
  return rejected({ reason: 'not_possible', code, text });
}

async function wasTransitioned(
  db: Queryable,
  paymentId: string,
  { name, version }: { readonly name: TransitionName; readonly version: number },
): Promise<boolean> {
  const text = 'select from payment_transitions where payment_id = $1 and version = $2 and name = $3';
  const { rowCount } = await db.query(text, [paymentId, version, name]);
  return rowCount === 1;
}

/** By the status in PostgreSQL, before the request. The workflow checks the settlement delay, by its own clock. */
async function rejectionOf(
  workflows: PaymentActionClient,
  action: OperatorPaymentAction,
  payment: PaymentRow,
): Promise<string | null> {
  const rejection = rejectionReason(action, payment, payment, Date.now());
  if (rejection !== null && !isFinal(payment.status)) await catchUp(workflows, payment.id);
  return rejection;
}

/**
 * The operator expected another status, so the workflow may be behind PostgreSQL: the signal makes it compare the two.
 * If the signal fails, the next request sends another.
 */
async function catchUp(workflows: PaymentActionClient, paymentId: string): Promise<void> {
  await workflows.signalProviderUpdate(paymentId).catch(() => undefined);
}

export function resultOf({ id, referenceId, status }: PaymentRow): PaymentActionResult {
  return { id, referenceId, status };
}
