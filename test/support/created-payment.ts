import { eventually } from './eventually';
import type { TestService } from './service';

/** The members that most tests need of a payment that the API returned. */
export interface TestPayment {
  readonly id: string;
  readonly reference_id: string;
  readonly created_at: string;
  readonly expires_at: string;
}

type Request = Readonly<Record<string, unknown>>;

/** A pending payment of Rp 50,000, unless the request has other fields. */
export async function createPayment(
  service: Pick<TestService, 'call'>,
  request: Request = {},
  headers: Record<string, string> = {},
): Promise<TestPayment> {
  const { status, body } = await service.call('POST', '/payments', { amount: 50_000, ...request }, headers);
  expect(status).toBe(201);
  return body.payment;
}

/** A payment in status `paid`. */
export async function createPaid(
  service: Pick<TestService, 'call' | 'pay'>,
  request: Request = {},
  headers: Record<string, string> = {},
): Promise<TestPayment> {
  const payment = await createPayment(service, request, headers);
  await service.pay(payment.reference_id);
  await waitForStatus(service, payment.id, 'paid');
  return payment;
}

/** The status that a merchant reads; undefined if there is no such payment. */
export async function statusOf(service: Pick<TestService, 'call'>, id: string): Promise<string | undefined> {
  return (await service.call('GET', `/payments/${id}`)).body.payment?.status;
}

/** Until the payment has one of the statuses. */
export async function waitForStatus(
  service: Pick<TestService, 'call'>,
  id: string,
  ...statuses: readonly string[]
): Promise<void> {
  await eventually(
    () => statusOf(service, id),
    (status) => status !== undefined && statuses.includes(status),
  );
}
