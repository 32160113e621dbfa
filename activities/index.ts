import * as balance from './balance';
import * as bankAccount from './bank-account';
import * as bankStatus from './bank-status';
import * as dailyRun from './daily-run';
import type { ActivityDependencies } from './dependencies';
import * as latePayment from './late-payment';
import * as payment from './payment';
import * as payout from './payout';
import { recordAttemptStart } from './provider-deadline';
import * as reconcile from './reconcile';
import * as refund from './refund';
import * as retention from './retention';
import * as sandboxTimers from './sandbox-timers';
import * as scheduledPayouts from './scheduled-payouts';
import * as verifications from './verifications';
import { requireAuthenticInput, type DeclaredActivity } from './verify-terms';
import * as webhookDelivery from './webhook-delivery';
import * as webhookPing from './webhook-ping';

/**
 * All side effects of the workflows. These files export nothing but activities: Temporal records their names. Each
 * attempt may be repeated, or cut off anywhere. Each activity declares its check beside itself, as `checked`.
 */
export const ACTIVITIES = {
  ...payment,
  ...payout,
  ...scheduledPayouts,
  ...refund,
  ...sandboxTimers,
  ...latePayment,
  ...webhookDelivery,
  ...webhookPing,
  ...reconcile,
  ...retention,
  ...dailyRun,
  ...verifications,
  ...balance,
  ...bankAccount,
  ...bankStatus,
} satisfies Readonly<Record<string, DeclaredActivity>>;

type WithoutDependencies<Activity> = Activity extends (
  dependencies: ActivityDependencies,
  ...input: infer Input
) => infer Result
  ? (...input: Input) => Result
  : never;

/** The activities as the workflows call them. */
export type Activities = {
  readonly [Name in keyof typeof ACTIVITIES]: WithoutDependencies<(typeof ACTIVITIES)[Name]['checked']>;
};

/**
 * The activities as the worker registers them: each compares its input as it declares.
 * @throws Error if an activity declares no check
 */
export function createActivities(
  dependencies: ActivityDependencies,
  activities: Readonly<Record<string, DeclaredActivity>> = ACTIVITIES,
): Record<string, (input: never) => Promise<unknown>> {
  return Object.fromEntries(
    Object.entries(activities).map(([name, { checked }]) => {
      // The types exclude it, but not for a caller in JavaScript.
      if (typeof checked !== 'function') throw new Error(`The activity ${name} declares no check`);
      return [
        name,
        async (input: never) => {
          recordAttemptStart();
          requireAuthenticInput(input);
          return checked(dependencies, input);
        },
      ];
    }),
  );
}
