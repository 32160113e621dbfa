import { validate as isUuid } from 'uuid';
import { storeNotification } from '../../db/notifications';
import { tellNews } from '../../engine/tell-news';
import { ApiError } from '../api-error';
import type { PublicEndpoint } from '../endpoint';

/**
 * `POST /provider-notifications/:account`: verified, kept, and told to the payment's workflow, which asks the provider
 * itself; one that its own timer is asking for is kept only. Answered with 200 only then, so that the provider sends it again
 * when any of this failed.
 */
export const receiveNotification: PublicEndpoint = async ({ db, providers, engine, log }, request) => {
  const accountId = String(request.params.account);
  const provider = isUuid(accountId) ? await providers.findAccount(accountId) : undefined;
  if (!provider) throw new ApiError('not_found', 'There is no such account.');

  const rawBody: Buffer = request.body;
  const verdict = provider.verifyNotification({ rawBody, headers: request.headers });
  if (verdict.verdict === 'malformed') throw new ApiError('invalid_json', 'This is not a notification.');
  if (verdict.verdict === 'forged') throw new ApiError('not_found', 'There is no such account.');

  const { referenceId, says } = verdict;
  const { closed, isExpected, paymentId } = await storeNotification(db, { accountId, referenceId, says, rawBody });
  // An order that nobody knows is kept open: the sweeper makes it a case for a person.
  if (paymentId === null) log.warn({ accountId, referenceId }, 'a notification speaks of an unknown order');
  else if (!closed && !isExpected) await tellNews(db, engine, paymentId);
  return { status: 200, body: { received: true } };
};
