import { lateRefundKeyOf, type LatePaymentRequest, type LatePaymentResult } from '../src/domain/late-payment';
import { formatRupiah } from '../src/domain/money';
import { PROVIDER_CAPABILITIES } from '../src/domain/provider-capabilities';
import { findLatePaymentAmount } from '../src/db/queries/find-final-payment';
import {
  requireManualReview as recordManualReview,
  readLatePayment,
  refundLatePayment as recordRefunded,
  submitLateRefund,
} from '../src/db/transitions/late-payment';
import type { ActivityDependencies } from './dependencies';
import { executeRefund } from './execute-refund';

/** Gives late money back, once, where the provider can; where it cannot, or refuses, a person sees to it. */
export async function refundLatePayment(
  dependencies: ActivityDependencies,
  { terms, atMs }: LatePaymentRequest,
): Promise<LatePaymentResult> {
  const { db, providers } = dependencies;
  const { paymentId, referenceId, provider: name } = terms;
  const at = new Date(atMs);
  const requireManualReview = async (reason: string): Promise<LatePaymentResult> => {
    await recordManualReview(db, paymentId, at, reason);
    return now();
  };
  const now = async () => ({ status: (await readLatePayment(db, paymentId)) ?? ('none' as const) });

  const receivedRupiah = await findLatePaymentAmount(db, paymentId);
  if (!PROVIDER_CAPABILITIES[name].refund) return requireManualReview(`${name} has no refund`);
  if (receivedRupiah !== terms.totalRupiah) {
    return requireManualReview(`it is ${formatRupiah(receivedRupiah)} instead of ${formatRupiah(terms.totalRupiah)}`);
  }
  if (!dependencies.isRecovering) await submitLateRefund(db, paymentId, at);
  const refund = await executeRefund(
    await providers.forAccount(terms.providerAccountId),
    {
      referenceId,
      refundKey: lateRefundKeyOf(referenceId),
      totalRupiah: receivedRupiah,
      reason: 'paid after the payment had ended',
    },
    dependencies.isRecovering,
  );
  switch (refund.status) {
    case 'refunded':
      await recordRefunded(db, paymentId, at, refund.providerReference);
      return now();
    case 'rejected':
      return requireManualReview(`the provider refused to refund it (${refund.reason})`);
    case 'pending':
      return now();
    case 'indeterminate':
      return { ...(await now()), attentionReason: `The refund is unclear at the provider: ${refund.reason}.` };
  }
}
