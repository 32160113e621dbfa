import { setTimeout as sleep } from 'node:timers/promises';
import { request, type Dispatcher } from 'undici';
import { messageOf } from '../errors';
import { SLOW_MS, type FaultKind } from './faults';
import type { DueNotification } from './notification-queue';

export interface NotificationAttempt {
  readonly dispatcher: Dispatcher;
  readonly fault: FaultKind | undefined;
  readonly signal: AbortSignal;
}

/** One attempt, with its fault. Only a 2xx is a success. `text` describes the result. */
export async function sendNotification(
  { url, body }: DueNotification,
  { dispatcher, fault, signal }: NotificationAttempt,
): Promise<{ isSuccess: boolean; text: string }> {
  if (fault === 'timeout' || fault === 'reset' || fault === 'http_500')
    return { isSuccess: false, text: `fault ${fault}` };
  if (fault === 'slow') await sleep(SLOW_MS, undefined, { signal }).catch(() => undefined);
  try {
    const response = await request(url, {
      dispatcher,
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': 'Veritrans' },
      body: corruptBody(body, fault),
      signal,
    });
    await response.body.dump();
    return { isSuccess: response.statusCode >= 200 && response.statusCode < 300, text: `HTTP ${response.statusCode}` };
  } catch (error) {
    return { isSuccess: false, text: messageOf(error) };
  }
}

function corruptBody(body: string, fault: FaultKind | undefined): string {
  if (fault === 'half_body') return body.slice(0, body.length / 2);
  if (fault === 'bad_signature') return body.replace(/("signature_key":")([0-9a-f]+)/, `$1${'0'.repeat(128)}`);
  return body;
}
