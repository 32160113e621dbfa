import { randomBytes, randomUUID } from 'node:crypto';
import type { Environment } from '../../../src/config';
import { createSealer } from '../../../src/crypto/sealing';
import { transitionWriters } from '../../../src/db/transitions/payment-transitions';
import type { WebhookEvent } from '../../../src/domain/events';
import { createEndpoint } from '../../../src/services/webhooks/create-endpoint';
import { listEndpoints } from '../../../src/services/webhooks/webhook-endpoints';
import { findNewestSecret } from '../../../src/services/webhooks/webhook-secrets';
import { openSecret } from '../../../src/webhooks/open-secrets';
import { claimDeliveries } from '../../../src/webhooks/outbox';
import { osUser } from '../../support/actors';
import { createTestLedger, creation, type TestLedger } from '../../support/payments';
import { valueOf } from '../../support/webhooks';

const sealer = createSealer(randomBytes(32).toString('base64'));

let ledger: TestLedger;

beforeEach(async () => {
  ledger = await createTestLedger();
});

afterEach(() => ledger.close());

interface Changes {
  readonly merchantId?: string;
  readonly url?: string;
  readonly events?: WebhookEvent[];
  readonly environment?: Environment;
}

async function register({ merchantId = ledger.merchantId, environment = 'sandbox', ...changes }: Changes = {}) {
  const resolveHost = () => Promise.resolve([{ address: '1.1.1.1', family: 4 }]);
  const loadSealer = () => Promise.resolve(sealer);
  const needs = { db: ledger.db, loadSealer, receiverRules: { environment }, resolveHost };
  const input = { url: 'http://127.0.0.1:9/webhooks', events: [], expand: [], ...changes };
  const call = { path: { merchant: merchantId }, input, formId: randomUUID() };
  const { secret, ...endpoint } = valueOf(await createEndpoint.run(needs, osUser('root'), call));
  if (secret === null) throw new Error('The id of the request is not new');
  return { ...endpoint, secret };
}

it('registers an endpoint whose secret signs its webhooks', async () => {
  const endpoint = await register();
  expect(endpoint.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  await transitionWriters.create(ledger.context, creation(ledger.newTerms(), new Date()));
  const [delivery] = await claimDeliveries(ledger.db, { max: 9, maxPerEndpoint: 9 });
  expect(delivery).toMatchObject({ event: 'payment.created', url: endpoint.url });
  expect(delivery?.sealedSecrets.map((sealed) => openSecret(sealed, sealer))).toEqual([endpoint.secret]);
});

it('sends an endpoint only the events that it selected', async () => {
  const created = await register({ events: ['payment.created', 'payment.created'] });
  const paid = await register({ events: ['payment.paid'] });
  expect([created.events, paid.events]).toEqual([['payment.created'], ['payment.paid']]);
  await transitionWriters.create(ledger.context, creation(ledger.newTerms(), new Date()));
  const deliveries = await claimDeliveries(ledger.db, { max: 9, maxPerEndpoint: 9 });
  expect(deliveries.map((delivery) => delivery.endpointId)).toEqual([created.id]);
});

it('stores the secret sealed, and does not list it', async () => {
  const { secret, duplicateOf, ...endpoint } = await register();
  expect(duplicateOf).toBeNull();
  const { rows } = await ledger.db.query<{ text: string }>('select webhook_secrets::text as text from webhook_secrets');
  expect(rows).toHaveLength(1);
  expect(rows[0]?.text).not.toContain(secret.slice('whsec_'.length));
  expect(await listEndpoints(ledger.db)).toEqual([endpoint]);
});

it('finds the secret of the newest endpoint', async () => {
  expect(await findNewestSecret(ledger.db, sealer, ledger.merchantId)).toBeNull();
  await register();
  const { secret } = await register();
  expect(await findNewestSecret(ledger.db, sealer, ledger.merchantId)).toBe(secret);
});

it.each([
  ['ftp://shop.example/', 'sandbox', 'must be absolute and begin with http:// or https://'],
  ['shop.example/webhooks', 'sandbox', 'must be absolute and begin with http:// or https://'],
  ['', 'sandbox', 'must be absolute and begin with http:// or https://'],
  ['http://user@shop.example/', 'sandbox', 'must not contain a user name or password'],
  ['https://:secret@shop.example/', 'production', 'must not contain a user name or password'],
  ['http://shop.example/', 'production', 'must begin with https:// in production'],
] as const)('rejects %p in %s', async (url, environment, rule) => {
  await expect(register({ url, environment })).rejects.toThrow(rule);
  expect(await listEndpoints(ledger.db)).toEqual([]);
});

it('accepts https in production', async () => {
  const url = 'https://shop.example/webhooks?shop=1';
  expect((await register({ url, environment: 'production' })).url).toBe(url);
});

it('rejects an unknown merchant, names it, and stores no secret', async () => {
  const unknownId = randomUUID();
  await expect(register({ merchantId: unknownId })).rejects.toThrow(unknownId);
  expect((await ledger.db.query('select from webhook_secrets')).rowCount).toBe(0);
});
