import { once } from 'node:events';
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { insertOperator } from '../../src/services/identity/operators';
import { startApiProcess, type ApiProcess } from '../support/api-process';
import { eventually } from '../support/eventually';
import { newNamespace, startTestService, type TestService } from '../support/service';

let service: TestService;
let api: ApiProcess;
beforeAll(async () => {
  service = await startTestService(await newNamespace());
});
afterAll(() => service.close());
beforeEach(async () => {
  api = await startApiProcess(service);
});
afterEach(() => api.stop());

/** Uses keep-alive connections, like merchants' clients. */
const agent = new Agent({ keepAlive: true });

async function send(
  method: string,
  path: string,
  body = '',
): Promise<{ status: number | undefined; headers: IncomingMessage['headers']; body: string }> {
  const headers = { authorization: `Bearer ${service.secretKey}`, 'content-type': 'application/json' };
  const request = httpRequest(api.url + path, { method, headers, agent }).end(body);
  const [response]: IncomingMessage[] = await once(request, 'response');
  if (!response) throw new Error('There was no response');
  return { status: response.statusCode, headers: response.headers, body: await text(response) };
}

async function connected(): Promise<Socket> {
  const socket = connect(Number(new URL(api.url).port), '127.0.0.1');
  await once(socket, 'connect');
  return socket;
}

/** Locks the payment that is being created until the work is done, so that it is not issued before. */
async function holdingBack(work: () => Promise<void>): Promise<void> {
  const holder = await service.db.connect();
  try {
    await holder.query('begin');
    await eventually(
      () => holder.query('select id from payments for update'),
      ({ rows }) => rows.length === 1,
    );
    await work();
  } finally {
    await holder.query('rollback');
    holder.release();
  }
}

it('SIGTERM: requests in flight complete, no connection is accepted, and the process exits', async () => {
  await service.injectFault('charge', 'slow');
  const inFlight = send('POST', '/payments', '{"amount":20000}');
  let stopped: Promise<number | null> | undefined;
  await holdingBack(async () => {
    // Leaves an idle connection.
    expect((await send('GET', '/transactions')).status).toBe(200);
    // Two connections without a request; one sends its request later.
    const [, late] = await Promise.all([connected(), connected()]);

    stopped = api.stop();
    await eventually(
      () =>
        fetch(`${api.url}/healthz`).then(
          () => 'connected',
          (error: Error) => String(error.cause),
        ),
      (outcome) => outcome.includes('ECONNREFUSED'),
    );
    late.write('GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n');
    expect(await text(late)).toMatch(/^HTTP\/1.1 404 [^]*Connection: close/);
    expect(await Promise.race([inFlight.then(() => 'complete'), Promise.resolve('in flight')])).toBe('in flight');
  });
  const { status, headers, body } = await inFlight;
  expect([status, JSON.parse(body).payment.status]).toEqual([201, 'pending']);
  expect(headers.connection).toBe('close');
  expect(await stopped).toBe(0);
});

it('SIGTERM: not ready first, and new connections are served for the drain time', async () => {
  const draining = await startApiProcess(service, { DRAIN_SECONDS: '8' });
  expect((await fetch(`${draining.url}/readyz`)).status).toBe(200);

  const stopped = draining.stop();
  const readiness = await eventually(
    () => fetch(`${draining.url}/readyz`),
    ({ status }) => status === 503,
  );
  expect(await readiness.json()).toEqual({ status: 'not_ready', postgresql: 'up', temporal: 'up' });
  const response = await fetch(`${draining.url}/payments`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.secretKey}`, 'content-type': 'application/json' },
    body: '{"amount":20000}',
  });
  expect([response.status, response.headers.get('connection')]).toEqual([201, 'close']);

  expect(await stopped).toBe(0);
  await expect(fetch(`${draining.url}/readyz`)).rejects.toThrow('fetch failed');
});

it('SIGTERM: an operator’s request in flight completes, and the listener of the operators is closed', async () => {
  const { secret } = await insertOperator(service.db, { name: 'dewi', environment: 'sandbox' });
  const holder = await service.db.connect();
  let inFlight: Promise<Response>;
  let stopped: Promise<number | null>;
  try {
    await holder.query('begin');
    await holder.query('lock table exceptions in access exclusive mode');
    inFlight = fetch(`${api.operatorUrl}/operator/exceptions`, { headers: { authorization: `Bearer ${secret}` } });
    await eventually(
      () => holder.query("select 1 from pg_locks where relation = 'exceptions'::regclass and not granted"),
      ({ rows }) => rows.length === 1,
    );
    stopped = api.stop();
    await eventually(
      () =>
        fetch(`${api.operatorUrl}/nothing`).then(
          () => 'connected',
          (error: Error) => String(error.cause),
        ),
      (outcome) => outcome.includes('ECONNREFUSED'),
    );
  } finally {
    await holder.query('rollback');
    holder.release();
  }
  const response = await inFlight;
  expect([response.status, response.headers.get('connection')]).toEqual([200, 'close']);
  expect(await stopped).toBe(0);
});

it('SIGTERM: clients in the accept queue get their responses', async () => {
  api.signal('SIGSTOP');
  const callers = await Promise.all(Array.from({ length: 20 }, connected));
  const responses = callers.map((caller) => {
    caller.write('GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n');
    return text(caller).catch(String);
  });

  const stopped = api.stop();
  api.signal('SIGCONT');

  for (const response of responses) expect(await response).toMatch(/^HTTP\/1.1 404 /);
  expect(await stopped).toBe(0);
});
