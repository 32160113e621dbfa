import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { run } from '../../../src/cli/run';
import { deleteOldRequests } from '../../../src/db/operations/recorded-requests';
import { insertOperator } from '../../../src/services/identity/operators';
import { outputInto, runLunas, type Outcome } from '../../cli/run-lunas';
import { startTestApis, type TestApis, type TestKey } from '../../support/api';
import { eventually } from '../../support/eventually';
import { seedPayments } from '../../support/seed-payments';
import { startTcpProxy } from '../../support/tcp-proxy';

const UNKNOWN_ID = '01935b6c-7c00-7000-8000-000000000000';

const SEED = { count: 1, from: '2026-11-01T00:00:00.000Z', rareOneIn: 2, sameReference: 1 };

let apis: TestApis;
let key: TestKey;
let environment: NodeJS.ProcessEnv;
let payment: { readonly id: string; readonly reference: string };
beforeAll(async () => {
  apis = await startTestApis([{}, {}]);
  key = await apis.newKey();
  environment = { DATABASE_URL: apis.databaseUrl };
  await seedPayments(apis.db, key.merchantId, SEED);
  const { rows } = await apis.db.query('select id, reference_id as reference from payments');
  payment = z.object({ id: z.string(), reference: z.string() }).parse(rows[0]);
});
afterAll(() => apis.close());

const lunas = (...args: readonly string[]): Promise<Outcome> => runLunas(args, environment);

/** Requests with a key, else without one. @returns the id of the request */
async function send(
  path: string,
  {
    secret = '',
    id = randomUUID(),
    url = apis.urls[0] ?? '',
  }: { readonly secret?: string; readonly id?: string; readonly url?: string } = {},
): Promise<string> {
  await fetch(url + path, {
    headers: { 'x-request-id': id, ...(secret !== '' && { authorization: `Bearer ${secret}` }) },
  });
  return id;
}

const requestSchema = z.strictObject({
  id: z.string(),
  started_at: z.iso.datetime(),
  key_id: z.string().nullable(),
  key: z.string().nullable(),
  method: z.string(),
  path: z.string(),
  status: z.number().nullable(),
  duration_ms: z.number(),
  error_code: z.string().nullable(),
  error_reason: z.string().nullable(),
  error_detail: z.string().nullable(),
  ignored_fields: z.array(z.string()),
  ignored_parameters: z.array(z.string()),
});
const listSchema = z.strictObject({ requests: z.array(requestSchema) });

/** Until all these requests are recorded. */
async function listed(ids: readonly string[], ...args: readonly string[]) {
  const { requests } = await eventually(
    async () => listSchema.parse(JSON.parse((await lunas('logs', '--json', '--limit', '1000', ...args)).stdout)),
    ({ requests }) => ids.every((id) => requests.some((request) => request.id === id)),
  );
  return requests;
}

const UNKNOWN_KEY = {
  error_code: 'invalid_api_key',
  error_reason: 'key_unknown',
  error_detail: 'malformed key',
};

describe('lunas logs', () => {
  it('shows id, masked key, method, path, status, duration, reason and detail, the newest first', async () => {
    const read = await send(`/payments/${payment.id}?secret=query`, { secret: key.secret });
    await listed([read]);
    const wrong = await send('/payments/nowhere', { secret: 'sk_test_wrong' });
    const [newest, older] = await listed([wrong]);
    expect(newest).toMatchObject({ id: wrong, key: null, key_id: null, status: 401, ...UNKNOWN_KEY });
    expect(older).toMatchObject({
      id: read,
      key: `sk_test_…${key.secret.slice(-4)}`,
      key_id: key.id,
      method: 'GET',
      path: `/payments/${payment.id}`,
      status: 200,
      error_code: null,
    });
    const { stdout } = await lunas('logs');
    expect(stdout).toMatch(/^STARTED +ID +KEY +METHOD +PATH +STATUS +DURATION +ERROR +DETAIL\n/);
    expect(stdout).toContain(`${wrong}  -`);
    expect(stdout).toMatch(/key_unknown +malformed key\n/);
    expect(stdout).not.toContain('sk_test_wrong');
    expect(stdout).not.toContain(key.secret);
  });

  it('filters by status, class of status and key', async () => {
    const other = await apis.newKey();
    const [found, missing, unauthorized] = await Promise.all([
      send(`/payments/${payment.id}`, { secret: key.secret }),
      send(`/payments/${UNKNOWN_ID}`, { secret: other.secret }),
      send(`/payments/${UNKNOWN_ID}`),
    ]);
    const ids = [found, missing, unauthorized];
    await listed(ids);
    const matching = async (...args: readonly string[]) => {
      const all = new Set((await listed([], ...args)).map(({ id }) => id));
      return ids.filter((id) => all.has(id));
    };
    expect(await matching('--status', '4xx')).toEqual([missing, unauthorized]);
    expect(await matching('--status', '404')).toEqual([missing]);
    expect(await matching('--status', '2xx', '--key', key.id)).toEqual([found]);
    expect(await matching('--key', other.id)).toEqual([missing]);
  });

  it('shows requests to the API by default, and filters by method and path', async () => {
    const [read, page] = [await send(`/payments/${payment.id}`, { secret: key.secret }), await send('/docs')];
    const post = randomUUID();
    await fetch(`${apis.urls[0]}/payments`, { method: 'POST', headers: { 'x-request-id': post } });
    await listed([read, page, post], '--all');
    const matching = async (...args: readonly string[]) => {
      const found = new Set((await listed([], ...args)).map(({ id }) => id));
      return [read, page, post].filter((id) => found.has(id));
    };
    expect(await matching()).toEqual([read, post]);
    expect(await matching('--method', 'post')).toEqual([post]);
    expect(await matching('--path', `/payments/${payment.id}`)).toEqual([read]);
    expect(await matching('--path', '/docs')).toEqual([page]);
  });

  it('shows the masked key of an operator', async () => {
    const operator = await insertOperator(apis.db, { name: 'dewi', environment: 'sandbox' });
    const id = await send('/operator/exceptions', { secret: operator.secret, url: apis.operatorUrls[0] ?? '' });
    const [request] = await listed([id], '--key', operator.id);
    expect(request).toMatchObject({ id, key: expect.stringMatching(/^\w+…\w{4}$/), status: 200 });
  });

  it('leaves out probes, and cuts a long path', async () => {
    const probe = await send('/healthz');
    const long = await send(`/${'x'.repeat(5_000)}`);
    const requests = await listed([long]);
    expect(requests.map(({ id }) => id)).not.toContain(probe);
    expect(requests.find(({ id }) => id === long)?.path).toHaveLength(200);
  });

  it.each([
    [['--status', '4x'], '--status must be a status such as 404, or a class such as 4xx, not '],
    [['--status', '600'], '--status must be a status such as 404, or a class such as 4xx, not '],
    [['--key', 'mine'], "--key must be the id of a key, a UUID of lunas keys list, not 'mine'"],
    [['--key', `sk_test_${'a'.repeat(40)}`], "a UUID of lunas keys list, not 'sk_test_…aaaa'"],
    [['--key', UNKNOWN_ID], `There is no key ${UNKNOWN_ID}; lunas keys list shows a merchant's keys.`],
    [['--key', UNKNOWN_ID, '--follow'], `There is no key ${UNKNOWN_ID}; lunas keys list shows a merchant's keys.`],
  ])('rejects %j in one sentence', async (args, message) => {
    const { exitCode, stderr, stdout } = await lunas('logs', ...args);
    expect([exitCode > 0, stdout]).toEqual([true, '']);
    expect(stderr.split('\n')).toHaveLength(2);
    expect(stderr).toContain(message);
  });
});

describe('lunas logs --follow', () => {
  /** Runs the command until it has printed all of the sent requests. @returns its lines */
  async function follow(sendAll: () => Promise<readonly string[]>, ...args: readonly string[]): Promise<string[]> {
    const lines: string[] = [];
    const ready = await send('/before');
    await listed([ready]);
    const running = run(['logs', '--follow', ...args], {
      stdout: outputInto(lines),
      stderr: outputInto(warnings),
      environment: { DATABASE_URL: databaseUrl },
    });
    await eventually(
      async () => process.listenerCount('SIGINT'),
      (count) => count > listenersBefore,
    );
    // The first read may come later: only what follows a printed request is certain to be printed.
    await eventually(
      () => send('/canary').then(() => lines.length),
      (count) => count > 0,
    );
    const ids = await sendAll();
    await eventually(
      async () => lines.join(''),
      (text) => ids.every((id) => text.includes(id)),
    );
    process.emit('SIGINT');
    expect(await running).toBe(0);
    expect(lines.join('')).not.toContain(ready);
    expect(warnings).toEqual([]);
    return lines.filter((line) => ids.some((id) => line.includes(id)));
  }

  let listenersBefore: number;
  let warnings: string[];
  let databaseUrl: string;
  beforeEach(() => {
    databaseUrl = apis.databaseUrl;
    listenersBefore = process.listenerCount('SIGINT');
    warnings = [];
  });

  it('prints each new request of all processes once, as one line of JSON, until Ctrl-C', async () => {
    const lines = await follow(
      () =>
        Promise.all(Array.from({ length: 40 }, (_, index) => send('/nowhere', { url: apis.urls[index % 2] ?? '' }))),
      '--json',
    );
    const requests = lines.map((line) => requestSchema.parse(JSON.parse(line)));
    expect(requests.map(({ status }) => status)).toEqual(Array.from({ length: 40 }, () => 404));
    expect(new Set(requests.map(({ id }) => id)).size).toBe(40);
  });

  it('continues when PostgreSQL responds again, and prints what was recorded meanwhile', async () => {
    const proxy = await startTcpProxy(new URL(databaseUrl).host);
    databaseUrl = databaseUrl.replace(new URL(databaseUrl).host, proxy.address);
    try {
      const lines = await follow(async () => {
        await proxy.cut();
        const meanwhile = await send('/meanwhile');
        await listed([meanwhile]);
        await eventually(
          async () => warnings.length,
          (count) => count > 0,
        );
        expect(warnings.splice(0)).toEqual([expect.stringMatching(/^warning: PostgreSQL: .+ when it responds\.\n$/)]);
        await proxy.restore();
        return [meanwhile];
      });
      expect(lines).toHaveLength(1);
    } finally {
      await proxy.close();
    }
  });

  it('prints a request that commits after a later one', async () => {
    const late = await apis.db.connect();
    const insert = `insert into api_requests (request_id, started_at, method, path, status, duration_ms)
      values ($1, now(), 'GET', '/late', 404, 1)`;
    await late.query('begin');
    await late.query(insert, ['late-1']);
    const lines = await follow(async () => {
      const later = await send('/later');
      await listed([later]);
      await late.query('commit');
      late.release();
      return [later, 'late-1'];
    });
    expect(lines).toHaveLength(2);
    expect(lines.join('')).toMatch(/late-1 {2}- {2}GET {2}\/late {2}404 {2}1 ms {2}- {2}-\n/);
  });
});

describe('lunas requests show', () => {
  const detailsSchema = z.object({
    request: requestSchema,
    earlier_requests: z.array(requestSchema),
    payments: z.array(z.object({ id: z.string() })),
  });

  it('shows a request with the payment that it read, and earlier ones with the same id', async () => {
    const id = await send('/nowhere');
    await listed([id]);
    await send(`/payments/${payment.id}`, { secret: key.secret, id });
    const details = await eventually(
      async () => detailsSchema.parse(JSON.parse((await lunas('requests', 'show', id, '--json')).stdout)),
      ({ earlier_requests }) => earlier_requests.length > 0,
    );
    expect(details).toMatchObject({
      request: { id, status: 200, path: `/payments/${payment.id}` },
      earlier_requests: [{ id, status: 404, path: '/nowhere' }],
      payments: [{ id: payment.id }],
    });
    const { stdout } = await lunas('requests', 'show', id);
    expect(stdout).toContain(payment.reference);
    expect(stdout).toContain('Earlier requests with this id:');
    expect(stdout).not.toContain(key.secret);
  });

  it('shows the names that were ignored, as does lunas logs', async () => {
    const id = await send(`/payments/${payment.id}?page=2&size=1`, { secret: key.secret });
    const [newest] = await listed([id]);
    expect(newest).toMatchObject({ id, status: 200, ignored_fields: [], ignored_parameters: ['page', 'size'] });
    expect((await lunas('logs', '--limit', '1')).stdout).toMatch(/- +ignored: page, size\n/);
    expect((await lunas('requests', 'show', id)).stdout).toMatch(/Ignored parameters +page, size\n/);
  });

  it('rejects an unknown id in one sentence', async () => {
    expect(await lunas('requests', 'show', 'unknown')).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: 'error: There is no recorded request unknown; lunas logs shows them.\n',
    });
  });
});

describe('deleteOldRequests', () => {
  it('keeps the newest requests', async () => {
    const ids = [await send('/one'), await send('/two'), await send('/three')];
    await listed(ids);
    await deleteOldRequests(apis.db, 2);
    const { rows } = await apis.db.query<{ kept: number }>('select count(*)::integer as kept from api_requests');
    expect(rows).toEqual([{ kept: 2 }]);
  });
});
