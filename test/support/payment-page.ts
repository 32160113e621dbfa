import { randomUUID } from 'node:crypto';
import { eventually } from './eventually';
import type { TestService } from './service';

export interface CreatedPage {
  readonly paymentId: string;
  readonly referenceId: string;
  readonly payload: string;
  /** The address of the checkout page. */
  readonly url: string;
}

/**
 * A pending payment; the address of its page is the `Link` of the response. Beside other tests a machine may not create
 * as many as are requested together: then the same creation is requested again.
 */
export async function createPage(
  service: TestService,
  fields: Readonly<Record<string, unknown>> = {},
): Promise<CreatedPage> {
  const key = { 'idempotency-key': randomUUID() };
  const { headers, body } = await eventually(
    () => service.call('POST', '/payments', { amount: 50_000, ...fields }, key),
    ({ status }) => status !== 429 && status !== 500,
  );
  const [, url = ''] = /^<([^>]+)>; rel="payment"$/.exec(headers.get('link') ?? '') ?? [];
  if (!body.payment) throw new Error(`The payment was not created: ${JSON.stringify(body)}`);
  const { id, reference_id, qris_payload } = body.payment;
  return { paymentId: id, referenceId: reference_id, payload: qris_payload, url };
}
