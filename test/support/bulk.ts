import { randomUUID } from 'node:crypto';
import type { ApiAnswer, TestService } from './service';

const MOST_TRIES = 10;

/** So many open payments in one request, which is repeated as merchants repeat it until all of them have their QR. */
export async function createBulk(service: TestService, count: number, amount: number): Promise<ApiAnswer> {
  const payments = Array.from({ length: count }, () => ({ amount, idempotency_key: randomUUID() }));
  for (let tries = 1; ; tries += 1) {
    const answer = await service.call('POST', '/payments', { payments });
    const items: readonly { status: string }[] = answer.body.payments ?? [];
    if (answer.status === 201 && items.every(({ status }) => status === 'pending')) return answer;
    if (tries === MOST_TRIES)
      throw new Error(`The bulk is not open after ${tries} tries: ${answer.text.slice(0, 300)}`);
  }
}
