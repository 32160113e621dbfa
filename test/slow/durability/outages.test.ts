import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLogger } from '../../../src/observability/logger';
import { startApi } from '../../../src/servers/api-server';
import { sendRequest, type ApiResult } from '../../support/api';
import { eventually } from '../../support/eventually';
import { freeListeners } from '../../support/listeners';
import { signedNotification } from '../../support/notification';
import { newNamespace, NO_LIMITS, startTestService, type TestService } from '../../support/service';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy';

let service: TestService;
let postgresql: TcpProxy;
let temporal: TcpProxy;
let notificationPath: string;
let api: { url: string; close(): Promise<void> };
beforeAll(async () => {
  service = await startTestService(await newNamespace());
  const accounts = await service.db.query("select id from provider_accounts where provider = 'gopay'");
  notificationPath = `/provider-notifications/${accounts.rows[0].id}`;
  const database = new URL(service.databaseUrl);
  postgresql = await startTcpProxy(database.host);
  temporal = await startTcpProxy(service.temporal.address);
  database.host = postgresql.address;
  api = await startApi({
    ...(await freeListeners()).listeners,
    databaseUrl: database.href,
    temporal: { ...service.temporal, address: temporal.address },
    masterKey: service.masterKey,
    environment: 'sandbox',
    ...NO_LIMITS,
    log: createLogger('test', process.env.LOG_LEVEL ?? 'silent'),
  });
});
afterAll(async () => {
  await api.close();
  await Promise.all([postgresql.close(), temporal.close()]);
  await service.close();
});
afterEach(async () => {
  await Promise.all([postgresql.restore(), temporal.restore()]);
});

/** The promised 10 s and a tolerance for a busy machine; a second wait would end after 20 s. */
const TIMEOUT_MS = 19_000;

async function call(method: string, path: string, body?: unknown, key?: string): Promise<ApiResult> {
  const startedMs = performance.now();
  const result = await sendRequest(api.url + path, {
    method,
    headers: {
      authorization: `Bearer ${service.secretKey}`,
      'content-type': 'application/json',
      ...(key !== undefined && { 'idempotency-key': key }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  expect(performance.now() - startedMs).toBeLessThan(TIMEOUT_MS);
  return result;
}

const create = (key: string): Promise<ApiResult> => call('POST', '/payments', { amount: 20_000 }, key);
const SERVER_ERROR = [500, 'server_error'] as const;
const outcome = ({ status, code }: ApiResult) => [status, code] as const;

/** Every endpoint that needs PostgreSQL. */
async function needingPostgresql(): Promise<[method: string, path: string, body?: unknown][]> {
  const { id, qris_image_url } = (await service.call('POST', '/payments', { amount: 20_000 })).body.payment;
  return [
    ['POST', '/payments', { amount: 20_000 }],
    ['POST', '/payments', { payments: [{ amount: 20_000 }, { amount: 30_000 }] }],
    ['GET', `/payments/${id}`],
    ['GET', `/payments/${id}/qris`],
    ['GET', '/transactions'],
    ['POST', `/payments/${id}/cancel`],
    ['POST', `/transactions/${id}/cancel`],
    ['POST', `/payments/${id}/refund`],
    ['GET', new URL(qris_image_url).pathname],
    ['POST', `/provider-notifications/${randomUUID()}`, {}],
  ];
}

/** The same request, repeated until it succeeds, was executed once. */
async function expectOneExecution(key: string): Promise<void> {
  await eventually(
    () => create(key),
    ({ status }) => status === 201,
  );
  const again = await service.call('POST', '/payments', { amount: 20_000 }, { 'idempotency-key': key });
  expect(again.headers.get('idempotency-replayed')).toBe('true');
  expect(await service.atProvider(again.body.payment.reference_id)).toMatchObject({ charge_calls: 1 });
  expect(await service.transitionsOf(again.body.payment.id)).toEqual(['create', 'issue']);
}

describe.each(['cut', 'hang'] as const)('PostgreSQL unavailable (%s)', (how) => {
  it('500 server_error after at most 10 s everywhere, and the same request later is executed once', async () => {
    const requests = await needingPostgresql();
    // Only connections that are already open hang.
    await Promise.all(Array.from({ length: 20 }, () => call('GET', '/transactions')));
    await postgresql[how]();
    const [created, ...responses] = await Promise.all([
      create(`postgresql-${how}`),
      ...requests.map((args) => call(...args)),
    ]);
    expect([created, ...responses].map(outcome)).toEqual([created, ...responses].map(() => SERVER_ERROR));
    expect(responses[0]?.message).toContain(responses[0]?.headers.get('x-request-id'));
    expect((await call('GET', '/healthz')).status).toBe(200);
    expect((await call('GET', '/readyz')).status).toBe(503);
    await postgresql.restore();
    await expectOneExecution(`postgresql-${how}`);
    // The pool contains no dead connection.
    const after = await Promise.all(Array.from({ length: 40 }, () => call('GET', '/transactions')));
    expect(after.filter(({ status }) => status !== 200)).toEqual([]);
    await eventually(
      () => call('GET', '/readyz'),
      ({ status }) => status === 200,
    );
  });
});

describe.each(['cut', 'hang'] as const)('Temporal unavailable (%s)', (how) => {
  it('500 server_error after at most 10 s if it is needed, and the same request later is executed once', async () => {
    const known = `known-${how}`;
    expect((await create(known)).status).toBe(201);
    const { id, reference_id } = (await service.call('POST', '/payments', { amount: 20_000 })).body.payment;
    await temporal[how]();
    const responses = await Promise.all([
      create(`temporal-${how}`),
      call('POST', '/payments', { payments: [{ amount: 20_000 }, { amount: 30_000 }] }),
      call('POST', `/payments/${id}/cancel`),
      // It waits for the first one most of its time.
      sleep(1_000).then(() => call('POST', `/payments/${id}/cancel`)),
    ]);
    expect(responses.map(outcome)).toEqual(responses.map(() => SERVER_ERROR));
    const createdBy = [responses[0]?.headers.get('x-request-id')];
    const logged = await eventually(
      () => service.db.query('select error_detail as "detail" from api_requests where request_id = $1', createdBy),
      ({ rowCount }) => rowCount === 1,
    );
    expect(logged.rows).toEqual([
      { detail: expect.stringMatching(/^no QR in time for LN\w{18}$|^No response after 10000 ms$/) },
    ]);
    // Requests that need only PostgreSQL succeed.
    const completed = await Promise.all([create(known), call('GET', `/payments/${id}`), call('GET', '/transactions')]);
    expect(completed.map(({ status }) => status)).toEqual([201, 200, 200]);
    expect((await call('GET', '/readyz')).status).toBe(200);
    expect((await call('GET', '/readyz?for=creates')).status).toBe(503);
    expect((await call('POST', notificationPath, signedNotification(reference_id))).status).toBe(200);
    await temporal.restore();
    await expectOneExecution(`temporal-${how}`);
    // Long enough for calls that are still being retried without a caller.
    await sleep(2_500);
    expect((await service.call('GET', `/payments/${id}`)).body.payment.status).toBe('pending');
  });
});
