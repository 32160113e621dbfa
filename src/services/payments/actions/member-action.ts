import { z } from 'zod';
import type { Person } from '../../../domain/actor';
import type { MerchantPaymentAction, RejectionCode } from '../../../domain/payment-actions';
import type { Act } from '../../operations/operation-spec';
import { notKnown, rejected, type Performed, type RejectionTexts } from '../../operations/rejections';
import { isTemporalAway, temporalMessage, temporalReason, type TemporalState } from '../../operations/temporal-away';
import {
  ACTION_MESSAGES,
  ACTION_REASONS,
  inTurnOfPayment,
  loadPayment,
  paymentPath,
  performAction,
  type PaymentActionDependencies,
  type PaymentActionResult,
} from './operator-action';
import { rejectionByRow, type ActionPayment } from './request-action';

interface MemberActionDependencies extends PaymentActionDependencies, TemporalState {}

type MemberAct = Act<MemberActionDependencies, ActionPayment, { readonly version: number | null }>;

/** Why nothing was done to a payment. */
export const paymentActionReasons = { ...ACTION_REASONS, ...temporalReason } as const;

const MESSAGES: RejectionTexts<typeof paymentActionReasons> = { ...ACTION_MESSAGES, ...temporalMessage };

/**
 * What the operations on a payment have in common that members can do. A member decides about the version that the page
 * showed.
 * @param exclude why members cannot do it in a status that the action allows
 */
export function memberAction(
  action: MerchantPaymentAction,
  exclude: (payment: ActionPayment) => RejectionCode | null = () => null,
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
      const rejection = rejectionByRow(action, payment);
      const code = exclude(payment) ?? rejection?.code;
      return code === undefined ? null : ({ reason: 'not_possible', code, text: rejection?.reason ?? code } as const);
    },
    async perform(act: MemberAct): Promise<Performed<PaymentActionResult, typeof paymentActionReasons>> {
      const { by, needs, input, approval } = act;
      if (by.kind !== 'merchant_user') return performAction(action, act, approval?.replaces);
      if (await isTemporalAway(needs)) return rejected({ reason: 'temporal_away' });
      return performAction(action, act, input.version).catch(notKnown);
    },
  } as const;
}
