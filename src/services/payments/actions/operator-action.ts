import { z } from 'zod';
import type { Queryable } from '../../../db/connection/pool';
import type { PaymentRow } from '../../../db/payments/payment-row';
import { readState } from '../../../db/transitions/payment-state';
import { scopeOf, toStepActor, type Scope } from '../../../domain/actor';
import { REJECTION_CODES, type OperatorPaymentAction } from '../../../domain/payment-actions';
import { isFinal, type TransitionName } from '../../../domain/payment-transitions';
import { QueueTimeoutError, type KeyedMutex } from '../../../lib/keyed-mutex';
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
import { findPayment } from '../find-payment';
import {
  beforeDeadline,
  rejectionByRow,
  requestAction,
  type ActionPayment,
  type NotAllowed,
  type RequestDependencies,
} from './request-action';

export interface PaymentActionDependencies extends AuditDependencies {
  readonly workflows: RequestDependencies['workflows'];
  /** Absent: in a command, which does one thing. */
  readonly paymentMutex?: KeyedMutex;
}

export type PaymentActionResult = Pick<PaymentRow, 'id' | 'referenceId' | 'status'>;
type PaymentAct = Omit<Act<PaymentActionDependencies, ActionPayment, object>, 'input'>;

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
    load: loadPayment,
    inTurn: inTurnOfPayment,
    target: ({ subject }: Pick<PaymentAct, 'subject'>) => subject.id,
    perform: (act: PaymentAct) => performAction(action, act, act.approval?.replaces),
  } as const;
}

/** Members learn why the latest refund prevents an action; for operators its workflow finds that. */
export async function loadPayment(
  { db }: Pick<PaymentActionDependencies, 'db'>,
  scope: Scope,
  { payment }: z.output<typeof paymentPath>,
): Promise<ActionPayment> {
  const found = await findPayment(db, scope, payment);
  return scope === 'all' ? found : { ...found, ...(await readState(db, found.id)) };
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

/**
 * What an action has besides that a second operator has to approve. Two operators decide about one version of the
 * payment: else one of them could repeat an approval, whose outcome was not recorded, in another situation.
 */
export function approvedBy(transition: TransitionName) {
  return {
    approval: {
      executes: 'workflow',
      target: ({ subject }: Pick<PaymentAct, 'subject'>) => subject.referenceId,
      path: ({ id }: PaymentRow) => ({ payment: id }),
      amountRupiah: ({ subject }: Pick<PaymentAct, 'subject'>) => subject.totalRupiah,
      merchantId: ({ merchantId }: PaymentRow) => merchantId,
      replaces: ({ version }: PaymentRow) => version,
    },
    // A trigger permits the transition of this version only to the approval.
    async earlier({ needs: { db }, subject, approval }: PaymentAct): Promise<PaymentActionResult | null> {
      if (approval === null || approval.replaces === null) return null;
      const isDone = await wasTransitioned(db, subject.id, { name: transition, version: approval.replaces + 1 });
      return isDone ? resultOf(subject) : null;
    },
  } as const;
}

/**
 * Performs the action in the version that the person decides about.
 * @param version undefined: the newest one
 */
export async function performAction(
  action: OperatorPaymentAction,
  { by, subject: payment, note, ...act }: PaymentAct,
  version: number | null | undefined,
): Promise<Performed<PaymentActionResult, typeof ACTION_REASONS>> {
  const needs = beforeDeadline(act);
  const { id: paymentId } = payment;
  const rejection = rejectionByRow(action, payment);
  if (rejection !== null) {
    if (!isFinal(payment.status)) await catchUp(needs, paymentId);
    return notPossible(rejection);
  }
  if (version !== undefined && version !== payment.version) return rejected({ reason: 'superseded' });
  const find = () => loadPayment(needs, scopeOf(by), { payment: paymentId });
  const result = await requestAction(needs, { action, actor: toStepActor(by, note), paymentId, find });
  return result.outcome === 'done' ? done(resultOf(result.payment)) : notPossible(result);
}

function notPossible({ code, reason: text }: Pick<NotAllowed, 'code' | 'reason'>) {
  return rejected({ reason: 'not_possible', code, text });
}

/**
 * The requester expected another status, so the workflow may be behind PostgreSQL: the signal makes it compare the two.
 * If the signal fails, the next request sends another.
 */
async function catchUp({ workflows }: Pick<PaymentActionDependencies, 'workflows'>, paymentId: string): Promise<void> {
  await workflows.signalProviderUpdate(paymentId).catch(() => undefined);
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

function resultOf({ id, referenceId, status }: PaymentRow): PaymentActionResult {
  return { id, referenceId, status };
}
