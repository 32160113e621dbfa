import { UserError } from '../config';
import type { Queryable } from '../db/pool';
import type { PaymentRow } from '../db/reads/payment-row';
import { type PaymentRequest, whyRefused } from '../domain/payment-requests';
import type { Requester } from '../domain/payment-step';
import { isFinal, type PaymentStatus } from '../domain/payment-transitions';
import type { PaymentsEngine, RequestOutcome } from '../engine/payments-engine';
import { type Actor, audited, type OperatorActionName } from './audit';
import { findPayment } from './find-payment';

type Engine = Pick<PaymentsEngine, 'settlePayment' | 'failPayment' | 'retryRefund' | 'resolveRefund' | 'reportPaid'>;

/** Who acts, and on what. */
export interface OperatorContext {
  readonly db: Queryable;
  readonly engine: Engine;
  readonly by: Actor;
}

interface PaymentAction {
  readonly request: PaymentRequest;
  readonly ask: (engine: Engine, paymentId: string, by: Requester) => Promise<RequestOutcome>;
}

/** What an operator has the workflow of a payment do. */
const PAYMENT_ACTIONS = {
  'payment.settle': { request: 'settle', ask: (engine, id, by) => engine.settlePayment(id, by) },
  'payment.fail': { request: 'fail', ask: (engine, id, by) => engine.failPayment(id, by) },
  'refund.retry': { request: 'retryRefund', ask: (engine, id, by) => engine.retryRefund(id, by) },
  'refund.resolve_as_refunded': {
    request: 'resolveRefundAsRefunded',
    ask: (engine, id, by) => engine.resolveRefund(id, by, 'refunded'),
  },
  'refund.resolve_as_paid': {
    request: 'resolveRefundAsPaid',
    ask: (engine, id, by) => engine.resolveRefund(id, by, 'paid'),
  },
} as const satisfies Partial<Record<OperatorActionName, PaymentAction>>;

export type PaymentActionName = keyof typeof PAYMENT_ACTIONS;

export interface ActedOnPayment {
  readonly id: string;
  readonly referenceId: string;
  readonly status: PaymentStatus;
}

/**
 * Has the payment's workflow do it, as the operator and with the operator's note in the payment's own history.
 * @param idOrReference the payment's UUID or `reference_id`
 * @throws NotFoundError when there is no such payment, UserError that says why it was refused, Error when it is not known
 *   what became of it
 */
export async function actOnPayment(
  { db, engine, by }: OperatorContext,
  action: PaymentActionName,
  idOrReference: string,
  note?: string,
): Promise<ActedOnPayment> {
  const payment = await findPayment(db, idOrReference);
  const { id, referenceId } = payment;
  const { request, ask }: PaymentAction = PAYMENT_ACTIONS[action];
  return audited(db, by, { action, target: id, note }, async () => {
    await requirePossible(engine, request, payment);
    const asked = await ask(engine, id, { actor: by.name, ...(note !== undefined && { note }) });
    switch (asked.outcome) {
      case 'done':
        return { id, referenceId, status: asked.status };
      case 'refused':
        if (asked.status !== payment.status) await catchUp(engine, id);
        throw new UserError(asked.reason);
      case 'no_workflow': {
        const now = await findPayment(db, id);
        await requirePossible(engine, request, now);
        throw new UserError(`It is "${now.status}" and has no workflow any more; lunas recover brings it back.`);
      }
    }
  });
}

/** What its status rules out is not requested. Whether its time has come the workflow judges, by its own clock. */
async function requirePossible(engine: Engine, request: PaymentRequest, payment: PaymentRow): Promise<void> {
  const refused = whyRefused(request, payment, payment, Date.now());
  if (refused === null) return;
  if (!isFinal(payment.status)) await catchUp(engine, payment.id);
  throw new UserError(refused);
}

/** An operator expected another status: the workflow may be behind PostgreSQL. A report has it compare; any other time will do. */
async function catchUp(engine: Engine, paymentId: string): Promise<void> {
  await engine.reportPaid(paymentId).catch(() => undefined);
}
