import { validate as isUuid } from 'uuid';
import { ApiError } from '../api-error';
import type { PublicEndpoint } from '../endpoint';
import { storeNotification } from './inbox';

/**
 * `POST /provider-notifications/:account`: verified, kept, and told to the payment's workflow, which asks the provider
 * itself. Answered with 200 only then, so that the provider sends it again when any of this failed.
 */
export const receiveNotification: PublicEndpoint = async ({ db, providers, engine, log }, request) => {
  const accountId = String(request.params.account);
  const provider = isUuid(accountId) ? await providers.findAccount(accountId) : undefined;
  if (!provider) throw new ApiError('not_found', 'There is no such account.');

  const rawBody: Buffer = request.body;
  const verdict = provider.verifyNotification({ rawBody, headers: request.headers });
  if (verdict.verdict === 'malformed') throw new ApiError('invalid_json', 'This is not a notification.');
  if (verdict.verdict === 'forged') throw new ApiError('not_found', 'There is no such account.');

  const { referenceId, hasNews } = verdict;
  const entry = await storeNotification(db, { accountId, referenceId, hasNews, rawBody });
  if (entry.paymentId === null) log.warn({ accountId, referenceId }, 'a notification speaks of an unknown order');
  else if (!entry.closed && (await engine.reportPaid(entry.paymentId)) === 'no_workflow') {
    log.warn({ accountId, referenceId }, 'a notification came after the end of its payment; its row stays open');
  }
  return { status: 200, body: { received: true } };
};
