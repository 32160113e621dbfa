import { z } from 'zod';
import type { OperatorActor } from '../../domain/actor';
import { Operation } from '../operations/operation';
import { done } from '../operations/rejections';
import { cancelPayment } from '../payments/actions/cancel-payment';
import type { PaymentActionDependencies } from '../payments/actions/operator-action';
import { performForEach, type ActionOutcome } from '../payments/actions/perform-action';
import { changeHold, ofMerchant } from './merchants';

export type Cancellation = ActionOutcome<'cancelled'>;

/** Stops the settlement of a merchant's payments. A payment whose settlement is due waits and needs attention. */
export const holdMerchant = new Operation({
  name: 'merchant.hold',
  operator: 'settle',
  ...ofMerchant,
  input: z.object({}),
  async perform({ needs: { db }, subject: { id } }) {
    return done(await changeHold(db, id, true));
  },
});

/** Cancels a merchant's pending payments at the provider, so that no customer pays them any more. */
export async function cancelPendingPayments(
  dependencies: PaymentActionDependencies,
  actor: OperatorActor,
  merchantId: string,
  note: string,
): Promise<Cancellation[]> {
  const { rows } = await dependencies.db.query<{ referenceId: string }>(
    `select reference_id as "referenceId" from payments where merchant_id = $1 and status = 'pending'
     order by created_at, id`,
    [merchantId],
  );
  const payments = rows.map(({ referenceId }) => referenceId);
  return performForEach(dependencies, actor, { operation: cancelPayment, done: 'cancelled', note }, payments);
}
