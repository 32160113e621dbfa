import type { PingReport, WebhookPingInput } from '../src/domain/ping-report';
import { NotFoundError } from '../src/errors';
import { sendPing } from '../src/webhooks/send-ping';
import type { ActivityDependencies } from './dependencies';
import { inputRejectedError } from './errors';
import { unchecked } from './verify-terms';

/** Sends a signed test request. The statement that reads the endpoint compares its merchant with the input. */
export async function pingWebhook(
  { db, sealer, log, webhooks: sender }: ActivityDependencies,
  { endpointId, merchantId }: WebhookPingInput,
): Promise<PingReport> {
  try {
    const ping = await sendPing({ db, sealer, log, sender }, endpointId, merchantId);
    const { durationMs, statusCode, failure, responseExcerpt } = ping;
    return { durationMs, statusCode, failure, responseExcerpt };
  } catch (error) {
    if (error instanceof NotFoundError) throw inputRejectedError(`the merchant has no endpoint ${endpointId}`);
    throw error;
  }
}
pingWebhook.checked = unchecked(pingWebhook);
