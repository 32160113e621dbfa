import { lateRefundKeyOf, type LatePaymentRequest, type LatePaymentResult } from '../src/domain/late-payment';
import { formatRupiah } from '../src/domain/money';
import { PROVIDER_CAPABILITIES } from '../src/domain/provider-capabilities';
import { findLateMoney } from '../src/db/reads/find-ended-payment';
import {
  keepLatePayment,
  readLatePayment,
  refundLatePayment as recordRefunded,
  submitLateRefund,
} from '../src/db/transitions/late-payment';
import type { ActivityDependencies } from './dependencies';
import { pursueRefund } from './pursue-refund';

/** Gives late money back, once, where the provider can; where it cannot, or refuses, a person sees to it. */
export async function refundLatePayment(
  dependencies: ActivityDependencies,
  { terms, atMs }: LatePaymentRequest,
): Promise<LatePaymentResult> {
  const { db, providers } = dependencies;
  const { paymentId, referenceId, provider: name } = terms;
  const at = new Date(atMs);
  const keep = async (reason: string): Promise<LatePaymentResult> => {
    await keepLatePayment(db, paymentId, at, reason);
    return now();
  };
  const now = async () => ({ status: (await readLatePayment(db, paymentId)) ?? ('none' as const) });

  const receivedRupiah = await findLateMoney(db, paymentId);
  if (!PROVIDER_CAPABILITIES[name].refund) return keep(`${name} has no refund`);
  if (receivedRupiah !== terms.totalRupiah) {
    return keep(`it is ${formatRupiah(receivedRupiah)} instead of ${formatRupiah(terms.totalRupiah)}`);
  }
  if (!dependencies.isRecovering) await submitLateRefund(db, paymentId, at);
  const refund = await pursueRefund(
    await providers.forAccount(terms.providerAccountId),
    {
      referenceId,
      refundKey: lateRefundKeyOf(referenceId),
      totalRupiah: receivedRupiah,
      reason: 'paid after the payment had ended',
    },
    dependencies.isRecovering,
  );
  switch (refund.verdict) {
    case 'refunded':
      await recordRefunded(db, paymentId, at, refund.providerReference);
      return now();
    case 'refused':
      return keep(`the provider refused to refund it (${refund.reason})`);
    case 'under_way':
      return now();
    case 'unclear':
      return { ...(await now()), attention: `The refund is unclear at the provider: ${refund.reason}.` };
  }
}
