import type { Request } from 'express';
import { LRUCache } from 'lru-cache';
import { ApiError } from '../../http/api-error';
import { publicEndpoint } from '../../http/endpoint';
import { increment } from '../../observability/metrics';
import type { ApiDependencies } from '../dependencies';
import {
  findReceiver,
  type AccountReceiver,
  type ReceiverDependencies,
  type StoredSubject,
} from './notification-receivers';

/** A notification of Midtrans has about 1 kB. */
const MAX_BYTES = 64 * 1_024;

/** A provider waits for its response meanwhile. */
const SIGNAL_TIMEOUT_MS = 2_000;

type NotificationDependencies = ReceiverDependencies & Pick<ApiDependencies, 'publicBudget' | 'workflows' | 'log'>;

/** What was signalled a moment ago. The rows of further notifications stay open for the sweeper. */
const signalled = new LRUCache<string, true>({ max: 10_000, ttl: 1_000 });

/**
 * Stores a verified notification and signals the workflow of the payment or payout, which queries the provider. A copy
 * is only stored, and so is a notification that the workflow's own timer covers. The sweeper signals again for each row
 * that stays open, also if Temporal does not respond. Only what no provider sends counts against the budget of the
 * network: a provider's notifications come from few addresses.
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
    const { log, publicBudget } = dependencies;
    const { accountId, verify } = await requireAccount(dependencies, request);
    const rawBody: Buffer = request.body;
    const verification = verify({ rawBody, headers: request.headersDistinct });
    increment('lunas_notifications_received_total', { outcome: verification.outcome });
    if (verification.outcome !== 'verified') publicBudget.count(request);
    if (verification.outcome === 'malformed') throw new ApiError('invalid_json', 'This is not a notification.');
    if (verification.outcome === 'invalid_signature') {
      throw noSuchAccount(`invalid signature for provider account ${accountId}`);
    }

    const { referenceId } = verification;
    const subject = await verification.store();
    // The row of an unknown order stays open: the sweeper opens an exception for an operator.
    if (subject === null) log.warn({ accountId, referenceId }, 'notification for unknown order');
    else if (subject.needsQuery && !signalled.has(subject.id)) {
      signalled.set(subject.id, true);
      await notifySoon(dependencies, subject);
    }
    return { status: 200, body: { received: true } };
  },
});

/** The notification is stored, so without Temporal the provider gets its response, and the sweeper signals later. */
async function notifySoon({ workflows, log }: NotificationDependencies, { id, notify }: StoredSubject): Promise<void> {
  try {
    await notify(workflows.withDeadline(Date.now() + SIGNAL_TIMEOUT_MS));
  } catch (error) {
    log.warn({ err: error, id }, 'provider notification not handled; will retry');
  }
}

/** Found before the body is read: a caller without the address of an account makes the API read nothing. */
async function requireAccount(dependencies: NotificationDependencies, request: Request): Promise<AccountReceiver> {
  const receiver = await findReceiver(dependencies, String(request.params.account));
  if (receiver) return receiver;
  increment('lunas_notifications_received_total', { outcome: 'unknown_account' });
  dependencies.publicBudget.count(request);
  throw noSuchAccount('unknown provider account');
}

/** A caller without the account's key must not learn which provider accounts exist. */
function noSuchAccount(internal: string): ApiError {
  return new ApiError('not_found', 'There is no such account.', { internal });
}
