import type { ActivityDependencies } from '../../activities/dependencies';
import { createSealer } from '../../src/crypto/sealing';
import type { TransitionContext } from '../../src/db/transitions/apply-transition';
import type { Provider } from '../../src/providers/provider';
import { createWebhookSender } from '../../src/webhooks/send';
import { SILENT } from './collect-log';
import { expandBodyOf } from './expand-body';

/** The defaults of the configuration. */
export const RETENTION_DAYS = {
  webhook_deliveries: 90,
  webhook_events: 90,
  provider_notifications: 90,
  payment_details: 1_825,
  unused_payment_details: 1,
  sessions: 30,
  sign_in_links: 30,
};

/** Dependencies for activities that a test calls directly, with this provider. Nothing has to be closed. */
export function activityDependencies(
  context: TransitionContext,
  provider: Provider,
  changes: Partial<ActivityDependencies> = {},
): ActivityDependencies {
  const sealer = createSealer(Buffer.alloc(32).toString('base64'));
  return {
    ...context,
    log: SILENT,
    sealer,
    providers: { forAccount: async () => provider, findAccount: async () => provider, close: async () => undefined },
    webhooks: createWebhookSender({ environment: 'sandbox' }),
    expandBody: expandBodyOf(context.db, sealer),
    refundHoldSeconds: 60,
    isRecovering: () => Promise.resolve(false),
    retentionDays: RETENTION_DAYS,
    payouts: {
      findPayoutsAccount: () => Promise.resolve(undefined),
      findAccount: () => Promise.resolve(undefined),
      close: () => Promise.resolve(),
    },
    reconcileBatch: () => Promise.reject(new Error('not part of this')),
    requestScheduledPayouts: () => Promise.reject(new Error('not part of this')),
    issueDueInvoices: () => Promise.reject(new Error('not part of this')),
    verifications: {
      ledger: () => Promise.reject(new Error('not part of this')),
      audit: () => Promise.reject(new Error('not part of this')),
    },
    ...changes,
  };
}
