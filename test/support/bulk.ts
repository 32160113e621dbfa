import { randomUUID } from 'node:crypto';
import type { ApiResponse, TestService } from './service';

const MAX_ATTEMPTS = 10;

/** Creates open payments in one request. The request is repeated, as merchants do, until each payment has its QR. */
export async function createOpenPayments(service: TestService, count: number, amount: number): Promise<ApiResponse> {
  const payments = Array.from({ length: count }, () => ({ amount, idempotency_key: randomUUID() }));
  for (let attempt = 1; ; attempt += 1) {
    const response = await service.call('POST', '/payments', { payments });
    const items: readonly { status: string }[] = response.body.payments ?? [];
    if (response.status === 201 && items.every(({ status }) => status === 'pending')) return response;
    if (attempt === MAX_ATTEMPTS)
      throw new Error(`The bulk is not open after ${attempt} attempts: ${response.text.slice(0, 300)}`);
  }
}
