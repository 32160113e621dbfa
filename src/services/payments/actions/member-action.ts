import { z } from 'zod';
import type { PaymentRow } from '../../../db/payments/payment-row';
import { readState } from '../../../db/transitions/payment-state';
import { toStepActor, type MemberActor, type Person, type Scope } from '../../../domain/actor';
import type { PaymentState } from '../../../domain/payment';
import {
  findRejection,
  rejectionReason,
  type MerchantPaymentAction,
  type RejectionCode,
} from '../../../domain/payment-actions';
import type { Act } from '../../operations/operation-spec';
import { done, notKnown, rejected, type Performed, type RejectionTexts } from '../../operations/rejections';
import type { Readiness } from '../../readiness';
import { findPayment } from '../find-payment';
import { ActionRejectedError, requestInTurn } from '../request-payment-action';
import {
  ACTION_MESSAGES,
  ACTION_REASONS,
  beforeDeadline,
  inTurnOfPayment,
  notPossible,
  paymentPath,
  performByOperator,
  resultOf,
  type PaymentActionDependencies,
  type PaymentActionResult,
} from './operator-action';

interface MemberActionDependencies extends PaymentActionDependencies {
  /** Absent: an operator waits for Temporal. */
  readonly readiness?: Pick<Readiness, 'check'>;
}

type ActionPayment = PaymentRow & PaymentState;
type MemberAct = Act<MemberActionDependencies, ActionPayment, { readonly version: number | null }>;

/** Why nothing was done to a payment. */
export const paymentActionReasons = { ...ACTION_REASONS, stale: {}, temporal_away: {} } as const;

const MESSAGES: RejectionTexts<typeof paymentActionReasons> = {
  ...ACTION_MESSAGES,
  stale: () => 'The form has another version of the payment.',
  temporal_away: () => 'Temporal is away',
};

/**
 * What the operations on a payment have in common that members can do. A member decides about the version that the page
 * showed.
 * @param exclude why members cannot do it in a status that the action allows
 */
export function memberAction(
  action: MerchantPaymentAction,
  exclude: (payment: PaymentRow) => RejectionCode | null = () => null,
) {
  return {
    path: paymentPath,
    /** Null: an operator has seen none. */
    input: z.object({ version: z.int().nullable().default(null) }),
    rejections: paymentActionReasons,
    messages: MESSAGES,
    load: loadPayment,
    inTurn: inTurnOfPayment,
    target: ({ subject }: Pick<MemberAct, 'subject'>) => subject.id,
    allows(payment: ActionPayment, by: Person) {
      if (by.kind !== 'merchant_user') return null;
      const [nowMs, excluded] = [Date.now(), exclude(payment)];
      const code = excluded ?? findRejection(action, payment, payment, nowMs)?.code;
      if (code === undefined) return null;
      return { reason: 'not_possible', code, text: rejectionReason(action, payment, payment, nowMs) ?? code } as const;
    },
    perform: (act: MemberAct) =>
      act.by.kind === 'merchant_user' ? performByMember(action, act, act.by) : performByOperator(action, act),
  } as const;
}

async function loadPayment(
  { db }: MemberActionDependencies,
  scope: Scope,
  { payment }: { readonly payment: string },
): Promise<ActionPayment> {
  const found = await findPayment(db, scope, payment);
  return scope === 'all' ? found : { ...found, ...(await readState(db, found.id)) };
}

async function performByMember(
  action: MerchantPaymentAction,
  { subject: payment, input, ...act }: MemberAct,
  by: MemberActor,
): Promise<Performed<PaymentActionResult, typeof paymentActionReasons>> {
  const { id } = payment;
  const needs = beforeDeadline(act);
  // Without this, the page would wait for the time limit of a request, and could not say that nothing was done.
  if (needs.readiness && !(await needs.readiness.check(true)).temporal) return rejected({ reason: 'temporal_away' });
  if (input.version !== payment.version) return rejected({ reason: 'stale' });
  const find = () => loadPayment(needs, by, { payment: id });
  try {
    return done(resultOf(await requestInTurn(needs, { action, actor: toStepActor(by), paymentId: id, find })));
  } catch (error) {
    if (error instanceof ActionRejectedError) return notPossible(error.message, error.rejection.code);
    return notKnown(error);
  }
}
