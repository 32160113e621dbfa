import { validate as isUuid } from 'uuid';
import { storeNotification, storePayoutNotification } from '../../db/payments/notification-inbox';
import { notificationUrlOf, withoutCell } from '../../domain/cell';
import { findPayoutNotifications } from '../../providers/payout-notifications';
import type { PayoutNotifications } from '../../providers/payout-provider';
import type { Provider, ReceivedNotification } from '../../providers/provider';
import { logPayment } from '../../temporal/log-payment';
import { notifyWorkflow } from '../../temporal/notify-workflow';
import type { PaymentWorkflowClient } from '../../temporal/payment-workflow-client';
import type { ApiDependencies } from '../dependencies';

export type ReceiverDependencies = Pick<ApiDependencies, 'providers' | 'keylessDb' | 'sealer' | 'publicBaseUrl'>;

/** A provider account that receives notifications: of payments, or of payouts. */
export interface AccountReceiver {
  readonly accountId: string;
  readonly verify: (received: ReceivedNotification) => ReceivedOutcome;
}

type ReceivedOutcome =
  | { readonly outcome: 'verified'; readonly referenceId: string; readonly store: () => Promise<StoredSubject | null> }
  | { readonly outcome: 'invalid_signature' }
  | { readonly outcome: 'malformed' };

/** The payment or the payout that a stored notification is about. */
export interface StoredSubject {
  readonly id: string;
  /** Whether the workflow must query the provider now. */
  readonly needsQuery: boolean;
  readonly notify: (workflows: PaymentWorkflowClient) => Promise<unknown>;
}

/**
 * Undefined if there is no such provider account.
 * @param account its id, with a cell or without one, as the provider has it: a bank's signature covers the address
 */
export async function findReceiver(
  dependencies: ReceiverDependencies,
  account: string,
): Promise<AccountReceiver | undefined> {
  const accountId = withoutCell(account);
  if (!isUuid(accountId)) return undefined;
  const { providers, keylessDb: db, sealer, publicBaseUrl } = dependencies;
  const provider = await providers.findAccount(accountId);
  if (provider) return paymentReceiver(dependencies, accountId, provider);
  const notifications = await findPayoutNotifications(
    { db, sealer },
    accountId,
    notificationUrlOf(publicBaseUrl, account),
  );
  return notifications && payoutReceiver(dependencies, accountId, notifications);
}

function paymentReceiver({ keylessDb }: ReceiverDependencies, accountId: string, provider: Provider): AccountReceiver {
  return {
    accountId,
    verify(received) {
      const verification = provider.verifyNotification(received);
      if (verification.outcome !== 'verified') return verification;
      const { outcome, ...content } = verification;
      const store = async () => {
        const notification = { accountId, rawBody: received.rawBody, ...content };
        const { needsQuery, paymentId } = await storeNotification(keylessDb, notification);
        if (paymentId === null) return null;
        logPayment(paymentId);
        const notify = (workflows: PaymentWorkflowClient) => notifyWorkflow(keylessDb, workflows, paymentId);
        return { id: paymentId, needsQuery, notify };
      };
      return { outcome, referenceId: content.referenceId, store };
    },
  };
}

/** The bank's signature covers the whole notification. */
function payoutReceiver(
  { keylessDb }: ReceiverDependencies,
  accountId: string,
  notifications: PayoutNotifications,
): AccountReceiver {
  return {
    accountId,
    verify(received) {
      const verification = notifications.verifyPayoutNotification(received);
      if (verification.outcome !== 'verified') return verification;
      const { outcome, ...content } = verification;
      const store = async () => {
        const notification = { accountId, rawBody: received.rawBody, signed: content.dedupeKey, ...content };
        const { needsQuery, payout } = await storePayoutNotification(keylessDb, notification);
        if (payout === null) return null;
        const notify = ({ payouts }: PaymentWorkflowClient) => payouts.notify(payout);
        return { id: payout.payoutId, needsQuery, notify };
      };
      return { outcome, referenceId: content.referenceId, store };
    },
  };
}
