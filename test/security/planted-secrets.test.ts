import { Writable } from 'node:stream';
import { loadConfig, metricsAddressOf } from '../../src/config';
import { createSealer } from '../../src/crypto/sealing';
import { freePort } from '../../src/local-stack/ports';
import { createLogger } from '../../src/observability/logger';
import { SANDBOX_SERVER_KEY } from '../../src/sandbox/acquirers';
import { insertOperator } from '../../src/services/identity/operators';
import { eventually } from '../support/eventually';
import { fetchDecodedHistory } from '../support/history';
import { startReceiver, type Receiver } from '../support/receiver';
import { newNamespace, startTestService, type TestService } from '../support/service';
import { registerEndpoint } from '../support/webhooks';

const CUSTOMER = { name: 'Rahasia Sekali', email: 'rahasia@contoh.example', phone: '+628111222333' };
const METADATA = { note: 'kursi-rahasia-4711' };
const CONSTRAINT = 'planted_failure';

let service: TestService;
let receiver: Receiver;
let metricsUrl: string;
let payment: { readonly id: string; readonly reference_id: string };
let operatorKey: string;
let secrets: Readonly<Record<string, string>>;
const logged: string[] = [];
/** The bodies of all responses, by the API and the operator API. */
const responses: string[] = [];

beforeAll(async () => {
  const metrics = metricsAddressOf(loadConfig({ METRICS_PORT: String(await freePort()) }));
  if (!metrics) throw new Error('METRICS_PORT is set');
  metricsUrl = `http://${metrics.host}:${metrics.port}/metrics`;
  const destination = new Writable({
    write(chunk, _encoding, done) {
      logged.push(String(chunk));
      done();
    },
  });
  const log = createLogger('test', 'trace', destination);
  service = await startTestService(await newNamespace(), { refundHoldSeconds: 1, log, metrics: { worker: metrics } });
  receiver = await startReceiver();
  const endpoint = { merchantId: service.merchantId, url: receiver.url, events: [] } as const;
  const { secret: webhookSecret } = await registerEndpoint(service.db, createSealer(service.masterKey), endpoint);
  ({ secret: operatorKey } = await insertOperator(service.db, { name: 'sari', environment: 'sandbox' }));
  secrets = {
    'key of the merchant': service.secretKey,
    'key of the operator': operatorKey,
    'webhook secret': webhookSecret,
    'server key': SANDBOX_SERVER_KEY,
    'master key': service.masterKey,
    'name of the customer': CUSTOMER.name,
    'email of the customer': CUSTOMER.email,
    'phone of the customer': CUSTOMER.phone,
    metadata: METADATA.note,
  };
  await runLifecycle();
}, 240_000);
afterAll(async () => {
  await service.close();
  await receiver.close();
});

async function call(method: string, path: string, body?: unknown, headers?: Record<string, string>) {
  const response = await service.call(method, path, body, headers);
  responses.push(response.text);
  return response;
}

async function callOperator(method: string, path: string, body?: unknown) {
  const response = await service.callOperator(method, path, body, { authorization: `Bearer ${operatorKey}` });
  responses.push(response.text);
  return response;
}

function becomes(status: string): Promise<unknown> {
  const read = async () => (await call('GET', `/payments/${payment.id}`)).body.payment.status;
  return eventually(read, (found) => found === status);
}

/** Until it is repaired, each new row violates a constraint. PostgreSQL's error has the whole row. */
const breakTable = (table: string) =>
  service.db.query(`alter table ${table} add constraint ${CONSTRAINT} check (false) not valid`);
const repairTable = (table: string) => service.db.query(`alter table ${table} drop constraint ${CONSTRAINT}`);

/** A payment from its creation to its refund. Its provider, its webhooks, the API and the worker fail in between. */
async function runLifecycle(): Promise<void> {
  receiver.respond = (response) => response.writeHead(500).end('out of order');
  const request = { amount: 50_000, customer: CUSTOMER, metadata: METADATA };
  await breakTable('payment_details');
  expect((await call('POST', '/payments', request)).status).toBe(500);
  await repairTable('payment_details');
  await service.injectFault('charge', 'http_500');
  ({ payment } = (await call('POST', '/payments', request, { 'idempotency-key': 'planted' })).body);
  await rejectedRequests();
  await service.injectFault('status', 'half_body');
  await service.pay(payment.reference_id);
  await becomes('paid');
  await service.injectFault('refund', 'http_500');
  await breakTable('payment_transitions');
  // Its response may be an error: the activity is retried in the background.
  const refund = Promise.allSettled([call('POST', `/payments/${payment.id}/refund`)]);
  await eventually(async () => (await describeWorkflow(`payment-${payment.id}`)).includes(CONSTRAINT), Boolean);
  await repairTable('payment_transitions');
  await refund;
  await becomes('refunded');
  await eventually(
    () => service.db.query('select from webhook_attempts'),
    ({ rowCount }) => (rowCount ?? 0) >= 3,
  );
  await callOperator('GET', `/operator/payments/${payment.id}`);
  await callOperator('GET', '/operator/actions');
}

/** Requests that fail, with the secrets in each part of them. */
async function rejectedRequests(): Promise<void> {
  const customer = { ...CUSTOMER, name: CUSTOMER.name.repeat(20) };
  await call('POST', '/payments', { amount: 50_000, customer });
  await call('POST', '/payments', { amount: CUSTOMER.email, customer: CUSTOMER, metadata: METADATA });
  await call('POST', '/payments', `{"amount":1,"customer":{"name":"${CUSTOMER.name}"`);
  await call('POST', '/payments', { payments: [{ amount: 0, customer: CUSTOMER }] });
  await call('GET', `/payments/${payment.reference_id}`, undefined, { authorization: `Bearer ${operatorKey}` });
  await callOperator('POST', `/operator/payments/${payment.id}/settle`, { note: 'not yet paid' });
  await callOperator('POST', `/operator/payments/${payment.id}/settle`, {});
}

async function describeWorkflow(workflowId: string): Promise<string> {
  return JSON.stringify(await service.client.workflow.getHandle(workflowId).describe(), bigintAsText);
}

const bigintAsText = (_key: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);

async function workflowIds(): Promise<string[]> {
  const ids: string[] = [];
  for await (const { workflowId } of service.client.workflow.list()) ids.push(workflowId);
  return [...new Set(ids)];
}

/** With the payloads of its JSON in plain text. */
const withPlainPayloads = (json: string) =>
  json.replaceAll(/"data":"([\w+/=]+)"/g, (_, data: string) => Buffer.from(data, 'base64').toString('utf8'));

async function readTables(): Promise<string> {
  const { rows } = await service.db.query<{ table: string }>(
    "select table_name as table from information_schema.tables where table_schema = 'public' and table_type like 'B%'",
  );
  const texts = rows.map(async ({ table }) => {
    const result = await service.db.query<{ text: string }>(`select row::text as text from ${table} row`);
    return result.rows.map(({ text }) => text).join('\n');
  });
  return (await Promise.all(texts)).join('\n');
}

/** Everything that a secret could get to, and a text that it has. */
const DESTINATIONS: Readonly<Record<string, { read: () => Promise<string>; has: () => string }>> = {
  'the log': { read: async () => logged.join(''), has: () => payment.reference_id },
  'the responses': { read: async () => responses.join('\n'), has: () => '"code":"server_error"' },
  'the webhooks': {
    read: async () => receiver.received.map(({ rawHeaders, rawBody }) => rawHeaders.join('\n') + rawBody).join('\n'),
    has: () => payment.reference_id,
  },
  'every table of the database': { read: readTables, has: () => payment.reference_id },
  'the decoded histories': {
    async read() {
      const ids = await workflowIds();
      const histories = ids.map((id) => fetchDecodedHistory(service.client, id));
      return withPlainPayloads(JSON.stringify(await Promise.all(histories)));
    },
    has: () => payment.reference_id,
  },
  'the attributes of the workflows': {
    read: async () => (await Promise.all((await workflowIds()).map(describeWorkflow))).join('\n'),
    has: () => payment.reference_id,
  },
  'the metrics': { read: async () => (await fetch(metricsUrl)).text(), has: () => 'temporal_' },
};

it('attack: the metrics are not served at another address than METRICS_HOST', async () => {
  expect((await fetch(metricsUrl)).status).toBe(200);
  await expect(fetch(metricsUrl.replace('127.0.0.1', '127.0.0.2'))).rejects.toThrow('fetch failed');
});

/** A text as it is, and as it would be within other formats. */
function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const encodings = ['base64', 'base64url', 'hex'] as const;
  const encoded = encodings.map((encoding) => bytes.toString(encoding).replace(/=+$/, '').slice(0, -1));
  return [secret, encodeURIComponent(secret), ...encoded];
}

describe('after the lifecycle of a payment with failures of every component', () => {
  it.each(Object.entries(DESTINATIONS))(
    '%s: no planted secret, and a text that shows that it was searched',
    async (...row) => {
      const [, { read, has }] = row;
      const text = await read();
      expect(text).toContain(has());
      const found = Object.entries(secrets).filter(([, secret]) => formsOf(secret).some((form) => text.includes(form)));
      expect(found.map(([name]) => name)).toEqual([]);
    },
  );
});
