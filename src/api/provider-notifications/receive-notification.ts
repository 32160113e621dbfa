import { validate as isUuid } from 'uuid';
import { storeNotification } from '../../db/notification-inbox';
import { notifyWorkflow } from '../../temporal/notify-workflow';
import { ApiError } from '../api-error';
import type { PublicEndpoint } from '../endpoint';

/**
 * `POST /provider-notifications/:account`: verified, kept, and told to the payment's workflow, which asks the provider
 * itself; one that its own timer is asking for is kept only. A copy is told to nobody: what is open of it is the sweeper's, which
 * also tells again what was kept and could not be told.
 */
export const receiveNotification: PublicEndpoint = async ({ db, providers, workflows, log }, request) => {
  const accountId = String(request.params.account);
  const provider = isUuid(accountId) ? await providers.findAccount(accountId) : undefined;
  if (!provider) throw new ApiError('not_found', 'There is no such account.');

  const rawBody: Buffer = request.body;
  const verification = provider.verifyNotification({ rawBody, headers: request.headers });
  if (verification.outcome === 'malformed') throw new ApiError('invalid_json', 'This is not a notification.');
  if (verification.outcome === 'invalid_signature') throw new ApiError('not_found', 'There is no such account.');

  const { referenceId, reportedStatus } = verification;
  const { needsQuery, paymentId } = await storeNotification(db, { accountId, referenceId, reportedStatus, rawBody });
  // An order that nobody knows is kept open: the sweeper makes it a case for a person.
  if (paymentId === null) log.warn({ accountId, referenceId }, 'a notification speaks of an unknown order');
  else if (needsQuery) await notifyWorkflow(db, workflows, paymentId);
  return { status: 200, body: { received: true } };
};
