import { once } from 'node:events';
import { request } from 'node:http';
import { openSandbox, type SandboxUnderTest } from '../sandbox/sandbox-under-test';

let sandbox: SandboxUnderTest;
beforeAll(async () => {
  sandbox = await openSandbox();
});
afterAll(() => sandbox.close());

/** A request as a browser sends it: `fetch` does not allow the header Host. */
async function send(method: string, path: string, headers: Record<string, string>): Promise<number | undefined> {
  const outgoing = request(new URL(path, sandbox.url), { method, headers }).end();
  const [response] = await once(outgoing, 'response');
  response.resume();
  return response.statusCode;
}

async function statusOf(orderId: string): Promise<unknown> {
  return (await sandbox.call('GET', `/v2/${orderId}/status`)).transaction_status;
}

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

describe('a website in the browser of a developer', () => {
  it.each([
    ['its origin', { origin: 'https://evil.example' }],
    ['an opaque origin', { origin: 'null' }],
    ['the site of the fetch', { 'sec-fetch-site': 'cross-site' }],
    ['a page on another port of the machine', { origin: 'http://127.0.0.1:8080', 'sec-fetch-site': 'same-site' }],
  ])('a website cannot pay an order by a form: %s', async (_sign, headers) => {
    const { order_id } = await sandbox.charge();
    expect(await send('POST', `/simulator/payments/${order_id}/pay`, { ...FORM, ...headers })).toBe(403);
    expect(await statusOf(order_id)).toBe('pending');
  });

  it.each(['/', '/simulator/payments', '/simulator/faults'])(
    'a website cannot read %s by a name that resolves to the machine (DNS rebinding)',
    async (path) => {
      const { port } = new URL(sandbox.url);
      expect(await send('GET', path, { host: `rebound.example:${port}` })).toBe(403);
      expect(await send('GET', path, { host: `127.0.0.1.evil.example:${port}` })).toBe(403);
    },
  );

  it('a website cannot open an order with the public server key (DNS rebinding)', async () => {
    const { port } = new URL(sandbox.url);
    const host = `rebound.example:${port}`;
    const response = await send('POST', '/v2/charge', { host, origin: `http://${host}` });
    expect(response).toBe(403);
  });
});

it('the page of the sandbox and other programs can pay', async () => {
  const { host, origin, port } = new URL(sandbox.url);
  const signs = [{ origin, 'sec-fetch-site': 'same-origin' }, { host: `localhost:${port}` }, { host }];
  for (const headers of signs) {
    const { order_id } = await sandbox.charge();
    expect(await send('POST', `/simulator/payments/${order_id}/pay`, { ...FORM, ...headers })).toBe(303);
    expect(await statusOf(order_id)).toBe('settlement');
  }
});
