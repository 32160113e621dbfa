import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import {
  array,
  assert,
  asyncProperty,
  constant,
  constantFrom,
  dictionary,
  json,
  oneof,
  record,
  string,
  tuple,
  uint8Array,
  type Arbitrary,
} from 'fast-check';
import { listQuerySchema } from '../../src/api/payments/list-transactions/list-query';
import { ROUTES } from '../../src/servers/api-routes';
import { expectContract, type LiveResponse } from '../support/contract';
import { eventually } from '../support/eventually';
import { newNamespace, startTestService, type TestService } from '../support/service';

let service: TestService;
beforeAll(async () => {
  service = await startTestService(await newNamespace());
});
afterAll(() => service.close());

const RUNS = { numRuns: 150 };

const amounts = constantFrom(0, 1, 5_000, 10_000_000, 10_000_001, -1, 1.5, 1e20, '5000', null, true, [5_000], {});
const anything = oneof(
  json().map((text): unknown => JSON.parse(text)),
  amounts,
  string(),
);
const bodies = oneof(
  record(
    {
      amount: amounts,
      currency: anything,
      payment_method: anything,
      provider: anything,
      merchant_reference_id: anything,
      customer: anything,
      metadata: oneof(anything, dictionary(string(), anything)),
    },
    { requiredKeys: [] },
  ).map((body) => JSON.stringify(body)),
  record({ amount: amounts, payments: anything }, { requiredKeys: ['payments'] }).map((body) => JSON.stringify(body)),
  json(),
  string({ unit: 'binary' }),
  // A valid request with one character replaced.
  tuple(constantFrom(...Array(30).keys()), string({ maxLength: 3 })).map(([at, text]) => {
    const good = '{"amount":5000,"metadata":{"a":1}}';
    return good.slice(0, at) + text + good.slice(at + 1);
  }),
);

async function countOf(table: string): Promise<number> {
  const { rows } = await service.db.query(`select count(*) as count from ${table}`);
  return rows[0].count;
}

describe('a mutated request', () => {
  it('a mutated request gets an error of the contract or creates one payment, and breaks nothing', async () => {
    await assert(
      asyncProperty(bodies, async (body) => {
        const before = await countOf('payments');
        const result = await service.call('POST', '/payments', body);
        expect([201, 400]).toContain(result.status);
        const created = result.status === 201 ? (result.body.payments?.length ?? 1) : 0;
        expect((await countOf('payments')) - before).toBe(created);
      }),
      RUNS,
    );
    const { rows } = await service.db.query("select status from payments where status <> 'pending'");
    expect(rows).toEqual([]);
  });

  it('gets a documented response from every endpoint, for any path, query, headers and body', async () => {
    const { id, reference_id } = (await service.call('POST', '/payments', { amount: 5_000 })).body.payment;
    const statuses = new Set<number>();
    await assert(
      asyncProperty(requests(id, reference_id), async ({ method, path, headers, body }) => {
        const result = await send(method, path, headers, body);
        statuses.add(result.status);
        expect(result.status).toBeLessThan(500);
        expectContract(method, path, result);
      }),
      { numRuns: 600 },
    );
    // The requests passed each check, and did not only fail at the first one.
    expect([...statuses]).toEqual(expect.arrayContaining([200, 201, 400, 401, 404]));
  });

  it('gets a response or a closed connection if it is not HTTP', async () => {
    const { hostname, port } = new URL(service.apiUrl);
    await assert(
      asyncProperty(
        constantFrom('', 'GET / HTTP/1.1\r\n', 'POST /payments HTTP/1.1\r\nHost: x\r\n'),
        uint8Array(),
        async (head, bytes) => {
          const socket = connect(Number(port), hostname);
          socket.on('error', () => undefined);
          socket.end(Buffer.concat([Buffer.from(head), bytes, Buffer.from('\r\n\r\n')]));
          await once(socket.resume(), 'close', { signal: AbortSignal.timeout(60_000) });
        },
      ),
      RUNS,
    );
    expect((await service.call('GET', '/healthz')).status).toBe(200);
  });

  it('leaves no incomplete payment and no workflow with a failed task', async () => {
    const { rows } = await service.db.query<{ id: string; status: string }>('select id, status from payments');
    expect(rows.filter(({ status }) => ['created', 'failed'].includes(status))).toEqual([]);
    const started = await eventually(
      () => listWorkflows(),
      (ids) => ids.length >= rows.length,
    );
    expect(started).toEqual(expect.arrayContaining(rows.map((row) => `payment-${row.id}`)));
    const stumbled: string[] = [];
    for (const workflowId of started) {
      const { events = [] } = await service.client.workflow.getHandle(workflowId).fetchHistory();
      if (
        events?.some((event) => event.workflowTaskFailedEventAttributes ?? event.workflowExecutionFailedEventAttributes)
      ) {
        stumbled.push(workflowId);
      }
    }
    expect(stumbled).toEqual([]);
  });
});

async function listWorkflows(): Promise<string[]> {
  const ids: string[] = [];
  for await (const { workflowId } of service.client.workflow.list()) ids.push(workflowId);
  return ids;
}

/** Requests to every endpoint, most of them invalid; `id` is a payment that can be cancelled. */
function requests(id: string, referenceId: string) {
  const odd = string({ unit: 'binary', maxLength: 30 }).map((text) =>
    encodeURIComponent(text.replaceAll(/\p{Surrogate}/gu, '?')),
  );
  const segment = oneof(
    odd,
    constantFrom(id, referenceId, '%', '%00', '%E0%A4%A', '..', 'LN', "'%20or%201=1", 'docs.js'),
  );
  const value = oneof(odd, constantFrom('', '0', '-1', '1e9', 'pending', 'gopay', '2026-11-21', '%00', '%ff', 'MQ'));
  const query = array(tuple(oneof(constantFrom(...QUERY_PARAMETERS), odd), value), { maxLength: 3 });
  const text = string({ unit: constantFrom(...Array.from(' !"%,;=/azAZ09~\u00ff')), maxLength: 20 });
  /** Mostly valid, so that other defects pass the first check. */
  const mostly = <T>(good: T, ...odd: Arbitrary<T>[]) =>
    oneof({ weight: 8, arbitrary: constant(good) }, ...odd.map((arbitrary) => ({ weight: 1, arbitrary })));
  const headers = record(
    {
      authorization: mostly(`Bearer ${service.secretKey}`, constantFrom('Bearer sk_test_', ''), text),
      'idempotency-key': text,
      'content-type': mostly('application/json', constantFrom('application/json; charset=utf-16', 'text/plain'), text),
      'content-encoding': mostly('identity', constantFrom('gzip', 'br'), text),
      accept: text,
      'x-forwarded-for': text,
      'x-http-method-override': constantFrom('DELETE'),
    },
    { requiredKeys: ['authorization', 'content-type'] },
  );
  const target = tuple(constantFrom(...ROUTES), segment, query).map(([route, segment, query]) => {
    const search = query.map(([name, value]) => `${name}=${value}`).join('&');
    return [route.method.toUpperCase(), `${route.path.replace(/:\w+/, segment)}?${search}`] as const;
  });
  return tuple(target, headers, mostly('{"amount":5000}', bodies)).map(([[method, path], headers, body]) => ({
    method,
    path,
    headers,
    body,
  }));
}

const QUERY_PARAMETERS = Object.keys(listQuerySchema.shape);

/** Unlike `fetch` it sends a body with any method, and headers as they are. */
async function send(
  method: string,
  path: string,
  headers: Record<string, string>,
  body: string,
): Promise<LiveResponse> {
  const url = new URL(path.startsWith('/operator/') ? service.operatorUrl : service.apiUrl);
  const length = { 'content-length': String(Buffer.byteLength(body)) };
  const options = { host: url.hostname, port: url.port, method, path, headers: { ...headers, ...length } };
  const request = httpRequest({ ...options, timeout: 60_000 });
  request.on('timeout', () => request.destroy(new Error(`${method} ${path} hangs`)));
  request.end(body);
  const [response]: IncomingMessage[] = await once(request, 'response');
  if (!response) throw new Error('There was no response');
  // A stream has no end.
  const isStream = response.headers['content-type']?.startsWith('text/event-stream') ?? false;
  if (isStream) response.destroy();
  const result = isStream ? '' : await text(response);
  const isJson = response.headers['content-type']?.includes('json');
  return {
    status: response.statusCode ?? 0,
    headers: new Headers({ 'x-request-id': String(response.headers['x-request-id'] ?? '') }),
    body: isJson ? JSON.parse(result) : undefined,
  };
}
