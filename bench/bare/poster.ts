import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { Agent, request } from 'undici';
import { z } from 'zod';
import { times } from '../load-generator';

/** Posts webhooks as fast as undici can: no outbox, no signature, no record. */
const agent = new Agent({ pipelining: 1, keepAliveTimeout: 10_000 });
const orderSchema = z.object({ url: z.string(), body: z.string(), count: z.number(), concurrency: z.number() });

async function post({ url, body, count, concurrency }: z.infer<typeof orderSchema>): Promise<void> {
  await times(count, concurrency, async () => {
    const response = await request(url, {
      method: 'POST',
      dispatcher: agent,
      headers: {
        'Content-Type': 'application/json',
        'User-Agent': 'Lunas-Webhooks/0',
        'X-Service-Event': 'payment.created',
        'X-Service-Delivery': '00000000-0000-4000-8000-000000000000',
        'X-Service-Signature': `t=1,v1=${'0'.repeat(64)}`,
      },
      body,
    });
    await response.body.text();
  });
}

const server = createServer((order, response) => {
  void json(order)
    .then((text) => post(orderSchema.parse(text)))
    .then(() => response.end());
});

process.once('disconnect', () => process.exit(0));
server.listen(Number(process.env['PORT']), '127.0.0.1', () => process.send?.({ ready: true }));
