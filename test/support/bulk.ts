import { randomUUID } from 'node:crypto';
import type { ApiResponse, TestService } from './service';

const MAX_ATTEMPTS = 10;

/** So many open payments in one request, which is repeated as merchants repeat it until all of them have their QR. */
export async function createOpenPayments(service: TestService, count: number, amount: number): Promise<ApiResponse> {
  const payments = Array.from({ length: count }, () => ({ amount, idempotency_key: randomUUID() }));
  for (let attempt = 1; ; attempt += 1) {
    const response = await service.call('POST', '/payments', { payments });
    const items: readonly { status: string }[] = response.body.payments ?? [];
    if (response.status === 201 && items.every(({ status }) => status === 'pending')) return response;
    if (attempt === MAX_ATTEMPTS)
      throw new Error(`The bulk is not open after ${attempt} tries: ${response.text.slice(0, 300)}`);
  }
}
