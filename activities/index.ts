import { cancelPayment } from './cancel-payment';
import { cancelRefund } from './cancel-refund';
import { confirmPaid } from './confirm-paid';
import { deliverWebhook } from './deliver-webhook';
import type { ActivityDependencies } from './dependencies';
import { expirePayment } from './expire-payment';
import { failPayment } from './fail-payment';
import { failUnissuedPayment } from './fail-unissued-payment';
import { openPayment } from './open-payment';
import { recordLatePayment } from './record-late-payment';
import { syncPaidPayment } from './sync-paid-payment';
import { syncFailedRefund } from './sync-failed-refund';
import {
  planReconciliation,
  reconcilePayments,
  recordReconciliation,
  reportFailedReconciliation,
} from './reconcile-payments';
import { refundLatePayment } from './refund-late-payment';
import { refundPayment } from './refund-payment';
import { requestRefund } from './request-refund';
import { resolveRefundAsPaid, resolveRefundAsRefunded } from './resolve-refund';
import { retryRefund } from './retry-refund';
import { settlePayment } from './settle-payment';
import { submitRefund } from './submit-refund';

export type Activities = ReturnType<typeof createActivities>;

/** Every side effect of the workflows. Each may run twice and die in between. */
export function createActivities(dependencies: ActivityDependencies) {
  return {
    openPayment: openPayment.bind(null, dependencies),
    failUnissuedPayment: failUnissuedPayment.bind(null, dependencies),
    confirmPaid: confirmPaid.bind(null, dependencies),
    cancelPayment: cancelPayment.bind(null, dependencies),
    expirePayment: expirePayment.bind(null, dependencies),
    failPayment: failPayment.bind(null, dependencies),
    syncPaidPayment: syncPaidPayment.bind(null, dependencies),
    requestRefund: requestRefund.bind(null, dependencies),
    cancelRefund: cancelRefund.bind(null, dependencies),
    submitRefund: submitRefund.bind(null, dependencies),
    refundPayment: refundPayment.bind(null, dependencies),
    syncFailedRefund: syncFailedRefund.bind(null, dependencies),
    retryRefund: retryRefund.bind(null, dependencies),
    resolveRefundAsRefunded: resolveRefundAsRefunded.bind(null, dependencies),
    resolveRefundAsPaid: resolveRefundAsPaid.bind(null, dependencies),
    recordLatePayment: recordLatePayment.bind(null, dependencies),
    refundLatePayment: refundLatePayment.bind(null, dependencies),
    settlePayment: settlePayment.bind(null, dependencies),
    planReconciliation: planReconciliation.bind(null, dependencies),
    reconcilePayments: reconcilePayments.bind(null, dependencies),
    recordReconciliation: recordReconciliation.bind(null, dependencies),
    reportFailedReconciliation: reportFailedReconciliation.bind(null, dependencies),
    deliverWebhook: deliverWebhook.bind(null, dependencies),
  };
}
