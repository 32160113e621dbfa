import { randomBytes, randomUUID } from 'node:crypto';
import { createSealer } from '../../src/crypto/sealing';
import { createEndpoint } from '../../src/services/webhooks/create-endpoint';
import { listEndpoints } from '../../src/services/webhooks/webhook-endpoints';
import type { ResolveHost } from '../../src/webhooks/resolve-host';
import { createWebhookSender } from '../../src/webhooks/send';
import type { ReceiverRules } from '../../src/webhooks/ssrf-guard';
import { osUser } from '../support/actors';
import { createTestLedger, type TestLedger } from '../support/payments';
import { startReceiver, type Receiver } from '../support/receiver';
import { valueOf } from '../support/webhooks';
import { webhookTo } from '../webhooks/webhook';

const sealer = createSealer(randomBytes(32).toString('base64'));

let ledger: TestLedger;
beforeAll(async () => {
  ledger = await createTestLedger();
});
afterAll(() => ledger.close());

/** Names of an attacker's DNS server, by their addresses. */
const resolveTo =
  (...addresses: string[]): ResolveHost =>
  () =>
    Promise.resolve(addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })));

const noAddress: ResolveHost = () => Promise.reject(new Error('has no address'));

async function register(url: string, resolveHost: ResolveHost, rules: Partial<ReceiverRules> = {}) {
  const receiverRules = { environment: 'production', ...rules } as const;
  const input = { url, events: [], expand: [] };
  const call = { path: { merchant: ledger.merchantId }, input, formId: randomUUID() };
  const needs = { db: ledger.db, loadSealer: () => Promise.resolve(sealer), receiverRules, resolveHost };
  return valueOf(await createEndpoint.run(needs, osUser('root'), call));
}

describe('registering a webhook in production', () => {
  it.each(['localhost', 'LOCALHOST', 'localhost.', 'api.localhost'])(
    'a webhook in production is refused for the host %s',
    async (host) => {
      await expect(register(`https://${host}/`, noAddress)).rejects.toThrow('must not name localhost in production');
    },
  );

  it.each([
    ['127.0.0.1', 'loopback'],
    ['169.254.169.254', 'link-local'],
    ['10.0.0.7', 'private'],
    ['::1', 'loopback'],
    ['161.26.0.10', "a cloud's own service"],
    ['166.9.0.10', "a cloud's own service"],
  ])('a webhook in production is refused for a name that resolves to %s', async (address, kind) => {
    await expect(register('https://inside.example/', resolveTo('1.1.1.1', address))).rejects.toThrow(
      `must not lead to ${address}, which is ${kind}`,
    );
  });

  it('a webhook in production is refused for an address in WEBHOOK_FORBIDDEN_NETWORKS', async () => {
    const forbiddenNetworks = ['8.8.8.0/24'];
    const refusal = 'must not lead to 8.8.8.8, which WEBHOOK_FORBIDDEN_NETWORKS forbids';
    await expect(register('https://ours.example/', resolveTo('8.8.8.8'), { forbiddenNetworks })).rejects.toThrow(
      refusal,
    );
    await expect(register('https://8.8.8.8/', noAddress, { forbiddenNetworks })).rejects.toThrow(refusal);
  });

  it('writes nothing when it is refused', async () => {
    expect(await listEndpoints(ledger.db)).toEqual([]);
  });

  it('accepts a public host, and a name that has no address yet', async () => {
    await expect(register('https://shop.example/', resolveTo('1.1.1.1'))).resolves.toMatchObject({ status: 'enabled' });
    await expect(register('https://later.example/', noAddress)).resolves.toMatchObject({ status: 'enabled' });
  });
});

describe('a delivery', () => {
  let receiver: Receiver;
  beforeAll(async () => {
    receiver = await startReceiver();
  });
  afterAll(() => receiver.close());

  it('a delivery does not reach a forbidden network, even one that is also allowed', async () => {
    const rules = { environment: 'sandbox', forbiddenNetworks: ['127.0.0.0/8'] } as const;
    const sender = createWebhookSender(rules, resolveTo('127.0.0.1'));
    const { port } = new URL(receiver.url);
    for (const url of [receiver.url, `http://rebound.example:${port}/`]) {
      const { failure } = await sender.send(webhookTo(url));
      expect(failure).toContain('127.0.0.1, which WEBHOOK_FORBIDDEN_NETWORKS forbids');
    }
    await sender.close();
    expect(receiver.received).toEqual([]);
  });
});
