import { checkSettlement, checkStep, requireAuthenticInput, withRecordedTerms } from './check-step';
import type { ActivityDependencies } from './dependencies';
import * as latePayment from './late-payment';
import * as payment from './payment';
import * as reconcile from './reconcile';
import * as refund from './refund';
import * as retention from './retention';
import * as sandboxTimers from './sandbox-timers';
import * as webhookDelivery from './webhook-delivery';

/**
 * All side effects of the workflows. These files export nothing but activities: Temporal records their names. Each
 * attempt may be repeated, or cut off anywhere.
 */
const ACTIVITIES = {
  ...payment,
  ...refund,
  ...sandboxTimers,
  ...latePayment,
  ...webhookDelivery,
  ...reconcile,
  ...retention,
};

/** Those that write the payment's row compare it themselves. */
const { openPayment, failUnissuedPayment, ...laterSteps } = payment;

/** What is registered instead: the input is compared with PostgreSQL first. */
const CHECKED_ACTIVITIES = {
  ...mapValues({ ...laterSteps, ...refund, ...sandboxTimers }, checkStep),
  settlePayment: checkSettlement(payment.settlePayment),
  settleNow: checkSettlement(sandboxTimers.settleNow),
  ...mapValues(latePayment, withRecordedTerms),
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

function mapValues<Value, Mapped>(
  table: Readonly<Record<string, Value>>,
  map: (value: Value) => Mapped,
): Record<string, Mapped> {
  return Object.fromEntries(Object.entries(table).map(([name, value]) => [name, map(value)]));
}

/** As the worker registers them. */
export function createActivities(
  dependencies: ActivityDependencies,
): Record<string, (input: never) => Promise<unknown>> {
  const activities: Readonly<Record<string, Activity>> = {
    ...ACTIVITIES,
    openPayment,
    failUnissuedPayment,
    ...CHECKED_ACTIVITIES,
  };
  return Object.fromEntries(
    Object.entries(activities).map(([name, activity]) => [
      name,
      async (input: never) => {
        requireAuthenticInput(input);
        return activity(dependencies, input);
      },
    ]),
  );
}
