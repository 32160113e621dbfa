import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { freePort } from '../../../src/local-stack/ports';
import { startApiProcess, type ApiProcess } from '../../support/api-process';
import { eventually } from '../../support/eventually';
import { newNamespace, startTestService, type TestService } from '../../support/service';
import { bySize } from '../../support/size';

/** Two API processes behind nginx, whose upstreams are those that are ready, as an ingress of Kubernetes has them. */

/** Each of the two processes twice, or five times. */
const RESTARTS = bySize({ small: 4, full: 10 });
const REQUEST_INTERVAL_MS = 20;
/** One request in ten creates a payment; the others read one. */
const CREATE_EVERY = 10;
const PROBE_INTERVAL_MS = 200;
const DRAIN_SECONDS = '2';
/** The directories of nginx, which are outside the test's directory by default. */
const TEMPORARY = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];

let service: TestService;
let directory: string;
let nginx: ChildProcess;
let port: number;
/** In the order of their starts. */
const apis: ApiProcess[] = [];
let upstreams: readonly string[] = [];
const over = new AbortController();
let watching: Promise<void>;

function configOf(urls: readonly string[]): string {
  const servers = urls.map((url) => `server ${new URL(url).host} max_fails=0;`).join(' ');
  return `
    pid ${directory}/nginx.pid;
    error_log ${directory}/error.log;
    daemon off;
    events {}
    http {
      access_log off;
      # At each change nginx itself closes idle connections of clients, which would lose requests.
      keepalive_timeout 0;
      ${TEMPORARY.map((name) => `${name}_temp_path ${directory}/${name};`).join(' ')}
      upstream api { ${servers} keepalive 16; }
      server {
        listen 127.0.0.1:${port};
        location / { proxy_pass http://api; proxy_http_version 1.1; proxy_set_header Connection ""; }
      }
    }`;
}

async function isReady({ url }: ApiProcess): Promise<boolean> {
  const response = await fetch(`${url}/readyz`).catch(() => undefined);
  await response?.arrayBuffer();
  return response?.status === 200;
}

/** Asks every process whether it is ready, and configures nginx accordingly. */
async function watchReadiness(): Promise<void> {
  while (!over.signal.aborted) {
    const states = await Promise.all(apis.map(async (api) => ({ api, ready: await isReady(api) })));
    const ready = states.filter((state) => state.ready).map(({ api }) => api.url);
    if (ready.length > 0 && ready.join() !== upstreams.join()) {
      await writeFile(path.join(directory, 'nginx.conf'), configOf(ready));
      nginx.kill('SIGHUP');
      upstreams = ready;
    }
    await sleep(PROBE_INTERVAL_MS);
  }
}

beforeAll(async () => {
  service = await startTestService(await newNamespace());
  directory = await mkdtemp(path.join(os.tmpdir(), 'lunas-nginx-'));
  port = await freePort();
  apis.push(await startApiProcess(service, { DRAIN_SECONDS }), await startApiProcess(service, { DRAIN_SECONDS }));
  upstreams = apis.map(({ url }) => url);
  await writeFile(path.join(directory, 'nginx.conf'), configOf(upstreams));
  nginx = spawn('nginx', ['-c', path.join(directory, 'nginx.conf')], { stdio: 'inherit' });
  await eventually(
    () =>
      fetch(`http://127.0.0.1:${port}/healthz`).then(
        (response) => response.ok,
        () => false,
      ),
    (ok) => ok,
  );
  watching = watchReadiness();
});

afterAll(async () => {
  over.abort();
  await watching;
  nginx.kill();
  await once(nginx, 'exit');
  await Promise.all(apis.map((api) => api.stop()));
  await service.close();
  await rm(directory, { recursive: true });
});

async function statusOf(method: 'GET' | 'POST', pathname: string, body?: string): Promise<string> {
  const headers = { authorization: `Bearer ${service.secretKey}`, 'content-type': 'application/json' };
  try {
    const init = { method, headers, ...(body !== undefined && { body }) };
    const response = await fetch(`http://127.0.0.1:${port}${pathname}`, init);
    await response.arrayBuffer();
    return `${method} ${response.status}`;
  } catch (error) {
    return `${method} ${String(error)}`;
  }
}

/** Fifty requests a second, whether earlier ones have a response or not. */
async function load(paymentId: string, done: AbortSignal): Promise<string[]> {
  const outcomes: Promise<string>[] = [];
  while (!done.aborted) {
    const isCreate = outcomes.length % CREATE_EVERY === 0;
    outcomes.push(
      isCreate ? statusOf('POST', '/payments', '{"amount":20000}') : statusOf('GET', `/payments/${paymentId}`),
    );
    await sleep(REQUEST_INTERVAL_MS);
  }
  return Promise.all(outcomes);
}

it(`${RESTARTS} restarts of two API processes behind nginx lose no request`, async () => {
  const created = await fetch(`http://127.0.0.1:${port}/payments`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.secretKey}`, 'content-type': 'application/json' },
    body: '{"amount":20000}',
  });
  const { id } = z.object({ payment: z.object({ id: z.string() }) }).parse(await created.json()).payment;
  const restarted = new AbortController();
  const loading = load(id, restarted.signal);

  const exitCodes: (number | null | undefined)[] = [];
  for (let restart = 0; restart < RESTARTS; restart += 1) {
    const oldest = apis[0];
    exitCodes.push(await oldest?.stop());
    apis.shift();
    const started = await startApiProcess(service, { DRAIN_SECONDS });
    apis.push(started);
    await eventually(
      () => Promise.resolve(upstreams),
      (urls) => urls.includes(started.url) && urls.length === apis.length,
    );
  }
  restarted.abort();
  const outcomes = await loading;
  expect([...new Set(outcomes)].toSorted()).toEqual(['GET 200', 'POST 201']);
  expect(exitCodes).toEqual(Array.from({ length: RESTARTS }, () => 0));
});
