import type { ActivityDependencies } from './dependencies';
import { recordLatePayment, refundLatePayment } from './late-payment';
import {
  cancelPayment,
  confirmPaid,
  expirePayment,
  failPayment,
  failUnissuedPayment,
  openPayment,
  settlePayment,
} from './payment';
import { planReconciliation, reconcilePayments, recordReconciliation, reportFailedReconciliation } from './reconcile';
import {
  cancelRefund,
  refundPayment,
  requestRefund,
  resolveRefundAsPaid,
  resolveRefundAsRefunded,
  retryRefund,
  submitRefund,
  syncFailedRefund,
  syncPaidPayment,
} from './refund';
import { deliverWebhook } from './webhook-delivery';

/** All side effects of the workflows, under the names that Temporal records. An attempt may be repeated or cut off. */
const ACTIVITIES = {
  openPayment,
  failUnissuedPayment,
  confirmPaid,
  cancelPayment,
  expirePayment,
  failPayment,
  settlePayment,
  requestRefund,
  cancelRefund,
  submitRefund,
  refundPayment,
  retryRefund,
  resolveRefundAsRefunded,
  resolveRefundAsPaid,
  syncPaidPayment,
  syncFailedRefund,
  recordLatePayment,
  refundLatePayment,
  deliverWebhook,
  planReconciliation,
  reconcilePayments,
  recordReconciliation,
  reportFailedReconciliation,
};

type WithoutDependencies<Activity> = Activity extends (
  dependencies: ActivityDependencies,
  ...input: infer Input
) => infer Result
  ? (...input: Input) => Result
  : never;

/** As the workflows call them. */
export type Activities = {
  readonly [Name in keyof typeof ACTIVITIES]: WithoutDependencies<(typeof ACTIVITIES)[Name]>;
};

type Activity = (dependencies: ActivityDependencies, input: never) => Promise<unknown>;

/** As the worker registers them. */
export function createActivities(
  dependencies: ActivityDependencies,
): Record<string, (input: never) => Promise<unknown>> {
  const activities: Readonly<Record<string, Activity>> = ACTIVITIES;
  return Object.fromEntries(
    Object.entries(activities).map(([name, activity]) => [name, (input: never) => activity(dependencies, input)]),
  );
}
