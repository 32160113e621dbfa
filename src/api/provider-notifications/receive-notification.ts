import { validate as isUuid } from 'uuid';
import { storeNotification } from '../../db/notification-inbox';
import { notifyWorkflow } from '../../temporal/notify-workflow';
import { ApiError } from '../api-error';
import { publicEndpoint } from '../endpoint';

/**
 * Stores a verified notification and signals the payment's workflow, which queries the provider. A copy is only stored,
 * and so is a notification that the workflow's own timer covers. The sweeper signals again for each row that stays
 * open.
 */
export const receiveNotification = publicEndpoint({
  method: 'post',
  path: '/provider-notifications/:account',
  readsBody: true,
  async handler({ db, providers, workflows, log }, request) {
    const accountId = String(request.params.account);
    const provider = isUuid(accountId) ? await providers.findAccount(accountId) : undefined;
    if (!provider) throw noSuchAccount('unknown provider account');

    const rawBody: Buffer = request.body;
    const verification = provider.verifyNotification({ rawBody, headers: request.headers });
    if (verification.outcome === 'malformed') throw new ApiError('invalid_json', 'This is not a notification.');
    if (verification.outcome === 'invalid_signature') {
      throw noSuchAccount(`invalid signature for provider account ${accountId}`);
    }

    const { referenceId, reportedStatus } = verification;
    const { needsQuery, paymentId } = await storeNotification(db, { accountId, referenceId, reportedStatus, rawBody });
    // The row of an unknown order stays open: the sweeper opens an exception for an operator.
    if (paymentId === null) log.warn({ accountId, referenceId }, 'notification for unknown order');
    else if (needsQuery) await notifyWorkflow(db, workflows, paymentId);
    return { status: 200, body: { received: true } };
  },
});

/** A caller without the account's key must not learn which provider accounts exist. */
function noSuchAccount(internal: string): ApiError {
  return new ApiError('not_found', 'There is no such account.', { internal });
}
