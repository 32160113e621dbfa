import { sumRefundActions } from '../../../db/identity/user-actions';
import type { PaymentRow } from '../../../db/payments/payment-row';
import type { Person } from '../../../domain/actor';
import { REFUND_STEP_UP } from '../../../domain/sign-in';
import type { AuditDependencies } from '../../audit/audit';
import { Operation } from '../../operations/operation';
import { memberAction } from './member-action';
import { approvedBy } from './operator-action';

/** Refunds the customer of a paid payment. One operator alone refunds what the rules allow. */
export const refundPayment = new Operation({
  name: 'payment.refund',
  member: { area: 'payments', level: 'authorise' },
  operator: 'refund',
  ...memberAction('refund'),
  ...approvedBy('request_refund'),
  needsProof,
});

/** Who takes an open browser of a member refunds no more than the sum of an hour. */
async function needsProof({ db }: Pick<AuditDependencies, 'db'>, by: Person, { id }: PaymentRow): Promise<boolean> {
  if (by.kind !== 'merchant_user' || by.hasProved) return false;
  const { aboveRupiah, windowMs } = REFUND_STEP_UP;
  return (await sumRefundActions(db, { userId: by.id, paymentId: id, windowMs })) > aboveRupiah;
}
