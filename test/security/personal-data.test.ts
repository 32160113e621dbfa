import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { Writable } from 'node:stream';
import { createSealer } from '../../src/crypto/sealing';
import { transitionWriters } from '../../src/db/transitions/payment-transitions';
import { createLogger } from '../../src/observability/logger';
import { startApi } from '../../src/servers/api-server';
import { runLunas } from '../cli/run-lunas';
import { createProductionDatabase } from '../support/database';
import { eventually } from '../support/eventually';
import { freeListeners } from '../support/listeners';
import { createTestLedger, creation } from '../support/payments';
import { productionOperator } from '../support/production';
import { startReceiver, type Receiver } from '../support/receiver';
import { newNamespace, NO_LIMITS, startTestService, type TestService } from '../support/service';
import { registerEndpoint } from '../support/webhooks';

const NAME = 'Rahasia Sekali';

let service: TestService;
let receiver: Receiver;
let home: string;
beforeAll(async () => {
  home = await mkdtemp(path.join(os.tmpdir(), 'lunas-customers-'));
  service = await startTestService(await newNamespace());
  receiver = await startReceiver();
  receiver.respond = (response) => response.end(`Thank you, ${NAME}`);
  const endpoint = { merchantId: service.merchantId, url: receiver.url, events: [] } as const;
  await registerEndpoint(service.db, createSealer(service.masterKey), endpoint);
});
afterAll(async () => {
  await service.close();
  await receiver.close();
  await rm(home, { recursive: true });
});

const lunas = (...args: string[]) =>
  runLunas(args, { DATABASE_URL: service.operatorDatabaseUrl, LUNAS_HOME: home, LUNAS_MASTER_KEY: service.masterKey });

/** The tables that have the text in a row. */
async function tablesWith(text: string): Promise<string[]> {
  const { rows } = await service.db.query<{ table: string }>(
    "select table_name as table from information_schema.tables where table_schema = 'public' and table_type like 'B%'",
  );
  const found = await Promise.all(
    rows.map(async ({ table }) => {
      const result = await service.db.query(`select from ${table} row where strpos(row::text, $1) > 0`, [text]);
      return result.rowCount === 0 ? [] : [table];
    }),
  );
  return found.flat();
}

/** A payment that its customer paid, with a delivered webhook. */
async function createPaid(key: string) {
  const request = { amount: 50_000, customer: { firstName: NAME }, metadata: { seat: 7 } };
  const { body } = await service.call('POST', '/payments', request, { 'idempotency-key': key });
  await service.pay(body.payment.reference_id);
  await eventually(
    () =>
      service.db.query(
        `select from webhook_deliveries delivery join webhook_events event using (payment_id, payment_version)
         where payment_id = $1 and event.event = 'payment.paid' and status = 'delivered'`,
        [body.payment.id],
      ),
    ({ rowCount }) => rowCount === 1,
  );
  return { request, payment: body.payment };
}

it('attack: the fingerprint of a payment is not the hash of its request', async () => {
  const { payment } = await createPaid('hashed');
  const digest = createHash('sha256')
    .update(
      `{"amount":50000,"currency":"IDR","customer":{"firstName":"${NAME}"},"metadata":{"seat":7},` +
        '"payment_method":"qris","provider":"gopay"}',
    )
    .digest('hex');
  expect(await tablesWith(digest)).toEqual([]);
  const history = await service.client.workflow.getHandle(`payment-${payment.id}`).fetchHistory();
  expect(decode(history)).not.toContain(digest);
});

it('shows the customer of a payment, and the audit log has who saw it', async () => {
  const { payment } = await createPaid('shown');
  const { stdout } = await lunas('customers', 'show', payment.reference_id, '--note', 'dispute 7', '--json');
  expect(JSON.parse(stdout)).toEqual({
    payment_id: payment.id,
    reference_id: payment.reference_id,
    description: null,
    customer: { firstName: NAME },
    metadata: { seat: 7 },
    erased_at: null,
  });
  const { rows } = await service.db.query('select action, note from operator_actions where target = $1', [payment.id]);
  expect(rows).toEqual([{ action: 'customer.show', note: 'dispute 7' }]);
});

describe('in production', () => {
  it('needs an operator key and a note to show a customer', async () => {
    const ledger = await createTestLedger(createProductionDatabase);
    try {
      const terms = ledger.newTerms();
      await transitionWriters.create(ledger.context, creation(terms, new Date()));
      const { connectionString: DATABASE_URL = '' } = ledger.db.options;
      const { LUNAS_OPERATOR_KEY } = await productionOperator(DATABASE_URL);
      const show = (note: readonly string[], key?: string) =>
        runLunas(['customers', 'show', terms.referenceId, ...note], {
          DATABASE_URL,
          LUNAS_HOME: home,
          LUNAS_MASTER_KEY: service.masterKey,
          ...(key !== undefined && { LUNAS_OPERATOR_KEY: key }),
        });
      const note = ['--note', 'dispute 7'];
      expect(await show([], LUNAS_OPERATOR_KEY)).toMatchObject({
        exitCode: 1,
        stderr: expect.stringMatching(/--note/),
      });
      expect(await show(note)).toMatchObject({ exitCode: 1, stderr: expect.stringMatching(/LUNAS_OPERATOR_KEY/) });
      expect(await show(note, LUNAS_OPERATOR_KEY)).toMatchObject({ exitCode: 0, stderr: '' });
      const { rows } = await ledger.db.query('select actor, action, note from operator_actions');
      expect(rows).toEqual([
        { actor: expect.stringMatching(/^operator:/), action: 'customer.show', note: 'dispute 7' },
      ]);
    } finally {
      await ledger.close();
    }
  });
});

it('a planted name is in no table, history or sealed value after an erasure', async () => {
  const { request, payment } = await createPaid('erased');
  await service.db.query('update provider_notifications set body = body || $2 where reference_id = $1', [
    payment.reference_id,
    ` ${NAME}`,
  ]);
  await service.db.query('delete from payment_details where payment_id <> $1', [payment.id]);
  await service.db.query(
    'update webhook_attempts set response_excerpt = null where delivery_id not in ' +
      '(select id from webhook_deliveries where payment_id = $1)',
    [payment.id],
  );
  expect(await tablesWith(NAME)).toEqual(expect.arrayContaining(['provider_notifications', 'webhook_attempts']));
  const erased = await lunas('customers', 'erase', payment.id, '--note', 'ticket 4711');
  expect(erased).toMatchObject({ exitCode: 0, stderr: '' });

  expect(await tablesWith(NAME)).toEqual([]);
  expect((await service.db.query('select from payment_details')).rowCount).toBe(0);
  const history = decode(await service.client.workflow.getHandle(`payment-${payment.id}`).fetchHistory());
  expect(history).toContain(payment.reference_id);
  expect(history).not.toContain(NAME);
  expect(history).not.toMatch(/v[12]\.[0-9a-f]{8}\.[\w-]{80,}/);

  // The payment is as before, and a repeat of the request does not bring the name back.
  const again = await service.call('POST', '/payments', request, { 'idempotency-key': 'erased' });
  expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([201, 'true']);
  const shown = JSON.parse((await lunas('customers', 'show', payment.id, '--json')).stdout);
  expect(shown).toMatchObject({ customer: null, metadata: null, erased_at: expect.any(String) });
  expect((await lunas('ledger', 'verify')).exitCode).toBe(0);
  const { rows } = await service.db.query("select note from operator_actions where action = 'customer.erase'");
  expect(rows).toEqual([{ note: 'ticket 4711' }]);
});

it('attack: no log has a name, neither of a payment nor of a rejected request', async () => {
  const lines: string[] = [];
  const write = (chunk: unknown, _encoding: string, done: () => void) => {
    lines.push(String(chunk));
    done();
  };
  const { listeners, apiUrl } = await freeListeners();
  const { databaseUrl, temporal, masterKey, secretKey } = service;
  const log = createLogger('test', 'trace', new Writable({ write }));
  const settings = { ...listeners, databaseUrl, temporal, masterKey, ...NO_LIMITS, log };
  const api = await startApi({ ...settings, environment: 'sandbox' });
  try {
    const create = (customer: object) =>
      fetch(`${apiUrl}/payments`, {
        method: 'POST',
        headers: { authorization: `Bearer ${secretKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ amount: 50_000, customer }),
      }).then(({ status }) => status);
    expect(await create({ name: NAME })).toBe(201);
    expect(await create({ name: NAME.repeat(50) })).toBe(400);
    expect(await create({ [NAME]: 1 })).toBe(400);
  } finally {
    await api.close();
  }
  expect(lines.length).toBeGreaterThanOrEqual(3);
  expect(lines.join('')).not.toContain(NAME);
});

it('rejects an unknown payment', async () => {
  const { exitCode, stderr } = await lunas('customers', 'erase', 'LN0000000000000000');
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining('There is no payment LN0000000000000000')]);
});

/** The payloads of a history in plain text: they are base64 in its JSON. */
function decode(history: object): string {
  return JSON.stringify(history).replaceAll(/"data":"([\w+/=]+)"/g, (_, data: string) =>
    Buffer.from(data, 'base64').toString('utf8'),
  );
}
