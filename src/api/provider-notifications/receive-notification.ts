import type { Request } from 'express';
import { LRUCache } from 'lru-cache';
import { validate as isUuid } from 'uuid';
import { storeNotification } from '../../db/records/notification-inbox';
import { ApiError } from '../../http/api-error';
import { publicEndpoint } from '../../http/endpoint';
import { increment } from '../../observability/metrics';
import type { Provider } from '../../providers/provider';
import { logPayment } from '../../temporal/log-payment';
import { notifyWorkflow } from '../../temporal/notify-workflow';
import type { ApiDependencies } from '../dependencies';

/** A notification of Midtrans has about 1 kB. */
const MAX_BYTES = 64 * 1_024;

/** A provider waits for its response meanwhile. */
const SIGNAL_TIMEOUT_MS = 2_000;

type NotificationDependencies = Pick<ApiDependencies, 'providers' | 'publicBudget' | 'keylessDb' | 'workflows' | 'log'>;

/** The payments that were signalled a moment ago. The rows of further notifications stay open for the sweeper. */
const signalled = new LRUCache<string, true>({ max: 10_000, ttl: 1_000 });

/**
 * Stores a verified notification and signals the payment's workflow, which queries the provider. A copy is only stored,
 * and so is a notification that the workflow's own timer covers. The sweeper signals again for each row that stays
 * open, also if Temporal does not respond. Only what no provider sends counts against the budget of the network: a
 * provider's notifications come from few addresses.
 */
export const receiveNotification = publicEndpoint({
  method: 'post',
  path: '/provider-notifications/:account',
  readsBody: true,
  maxBytes: MAX_BYTES,
  async admit(dependencies: NotificationDependencies, request) {
    await requireAccount(dependencies, request);
  },
  async handler(dependencies: NotificationDependencies, request) {
    const { keylessDb, log, publicBudget } = dependencies;
    const { accountId, provider } = await requireAccount(dependencies, request);
    const rawBody: Buffer = request.body;
    const verification = provider.verifyNotification({ rawBody, headers: request.headers });
    increment('lunas_notifications_received_total', { outcome: verification.outcome });
    if (verification.outcome !== 'verified') publicBudget.count(request);
    if (verification.outcome === 'malformed') throw new ApiError('invalid_json', 'This is not a notification.');
    if (verification.outcome === 'invalid_signature') {
      throw noSuchAccount(`invalid signature for provider account ${accountId}`);
    }

    const { outcome: _, ...content } = verification;
    const { needsQuery, paymentId } = await storeNotification(keylessDb, { accountId, rawBody, ...content });
    if (paymentId !== null) logPayment(paymentId);
    // The row of an unknown order stays open: the sweeper opens an exception for an operator.
    if (paymentId === null) log.warn({ accountId, referenceId: content.referenceId }, 'notification for unknown order');
    else if (needsQuery && !signalled.has(paymentId)) {
      signalled.set(paymentId, true);
      await notifySoon(dependencies, paymentId);
    }
    return { status: 200, body: { received: true } };
  },
});

/** The notification is stored, so without Temporal the provider gets its response, and the sweeper signals later. */
async function notifySoon({ keylessDb, workflows, log }: NotificationDependencies, paymentId: string): Promise<void> {
  try {
    await notifyWorkflow(keylessDb, workflows.withDeadline(Date.now() + SIGNAL_TIMEOUT_MS), paymentId);
  } catch (error) {
    log.warn({ err: error, paymentId }, 'provider notification not handled; will retry');
  }
}

/** Found before the body is read: a caller without the address of an account makes the API read nothing. */
async function requireAccount(
  { providers, publicBudget }: NotificationDependencies,
  request: Request,
): Promise<{ readonly accountId: string; readonly provider: Provider }> {
  const accountId = String(request.params.account);
  const provider = isUuid(accountId) ? await providers.findAccount(accountId) : undefined;
  if (provider) return { accountId, provider };
  increment('lunas_notifications_received_total', { outcome: 'unknown_account' });
  publicBudget.count(request);
  throw noSuchAccount('unknown provider account');
}

/** A caller without the account's key must not learn which provider accounts exist. */
function noSuchAccount(internal: string): ApiError {
  return new ApiError('not_found', 'There is no such account.', { internal });
}
