import { cancelPayment } from './cancel-payment';
import { confirmPaid } from './confirm-paid';
import { deliverWebhook } from './deliver-webhook';
import type { ActivityDependencies } from './dependencies';
import { expirePayment } from './expire-payment';
import { giveUpPayment } from './give-up-payment';
import { openPayment } from './open-payment';
import { settlePayment } from './settle-payment';

export type Activities = ReturnType<typeof createActivities>;

/** Every side effect of the workflows. Each may run twice and die in between. */
export function createActivities(dependencies: ActivityDependencies) {
  return {
    openPayment: openPayment.bind(null, dependencies),
    giveUpPayment: giveUpPayment.bind(null, dependencies),
    confirmPaid: confirmPaid.bind(null, dependencies),
    cancelPayment: cancelPayment.bind(null, dependencies),
    expirePayment: expirePayment.bind(null, dependencies),
    settlePayment: settlePayment.bind(null, dependencies),
    deliverWebhook: deliverWebhook.bind(null, dependencies),
  };
}
