import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { z } from 'zod';
import { createSealer } from '../../../src/crypto/sealing';
import { freePort } from '../../../src/local-stack/ports';
import { withCorrelation } from '../../../src/observability/correlation';
import { PACKAGE_ROOT } from '../../../src/package-info';
import { MidtransClient } from '../../../src/providers/midtrans/midtrans-client';
import { setPolicy } from '../../../src/services/provider-accounts/catalog';
import { startApiProcess, startWorkerProcess, type ApiProcess } from '../../support/api-process';
import { eventually } from '../../support/eventually';
import { startOtlpReceiver, type OtlpReceiver, type ReceivedSpan } from '../../support/otlp-receiver';
import { startReceiver, type Receiver } from '../../support/receiver';
import { newNamespace, startTestService, type TestService } from '../../support/service';
import { registerEndpoint } from '../../support/webhooks';

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const CALLER_SPAN = 'b7ad6b7169203331';
const UNSAMPLED_TRACE_ID = '11111111111111111111111111111111';
const CLIENT_KIND = 3;
const SERVER_KIND = 2;

const createdSchema = z.object({ payment: z.object({ reference_id: z.string() }) });

let service: TestService;
let collector: OtlpReceiver;
let merchant: Receiver;

/** A payment that is paid, with the trace of its caller, and one whose caller does not sample. */
beforeAll(async () => {
  [collector, merchant] = await Promise.all([startOtlpReceiver(), startReceiver()]);
  service = await startTestService(await newNamespace());
  await service.stopWorker();
  const exporting = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
  const [api, worker] = [await startApiProcess(service, exporting), await startWorkerProcess(service, exporting)];
  await setPolicy(service.db, { provider: 'gopay', channel: 'qris', settlementDelaySeconds: 900 });
  await registerEndpoint(service.db, createSealer(service.masterKey), {
    merchantId: service.merchantId,
    url: `${merchant.url}/canary-in-url`,
    events: [],
  });
  const { reference_id } = await create(api, {
    traceparent: `00-${TRACE_ID}-${CALLER_SPAN}-01`,
    'x-request-id': 'traced',
  });
  await service.pay(reference_id);
  await merchant.waitFor(3);
  await create(api, { traceparent: `00-${UNSAMPLED_TRACE_ID}-${CALLER_SPAN}-00` });
  await merchant.waitFor(5);
  await create(api, {});
  await merchant.waitFor(7);
  await api.stop();
  await worker.stop();
});
afterAll(() => Promise.all([service.close(), collector.close(), merchant.close()]));

async function create({ url }: ApiProcess, headers: Record<string, string>): Promise<{ reference_id: string }> {
  const response = await fetch(`${url}/payments`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.secretKey}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ amount: 50_000 }),
  });
  expect(response.status).toBe(201);
  return createdSchema.parse(await response.json()).payment;
}

const inTrace = (traceId: string) => collector.spans.filter((span) => span.traceId === traceId);

function spanNamed(name: string, traceId = TRACE_ID): ReceivedSpan {
  const found = inTrace(traceId).filter((span) => span.name === name);
  expect([name, found.length]).toEqual([name, 1]);
  if (!found[0]) throw new Error(`There is no span ${name}`);
  return found[0];
}

describe('a trace', () => {
  it('leads from the caller through API, workflow, activity and provider to the webhook', () => {
    const parents = {
      'StartWorkflow:payment': 'POST /payments',
      'RunActivity:openPayment': 'StartWorkflow:payment',
      'midtrans charge': 'RunActivity:openPayment',
      'webhook payment.created': 'RunActivity:openPayment',
      'webhook payment.pending': 'RunActivity:openPayment',
      'RunActivity:confirmPaid': 'StartWorkflow:payment',
      'midtrans status': 'RunActivity:confirmPaid',
      'webhook payment.paid': 'RunActivity:confirmPaid',
    };
    expect(spanNamed('POST /payments')).toMatchObject({ parentSpanId: CALLER_SPAN, kind: SERVER_KIND });
    for (const [name, parent] of Object.entries(parents)) {
      expect([name, spanNamed(name).parentSpanId]).toEqual([name, spanNamed(parent).spanId]);
    }
    expect(spanNamed('midtrans charge').kind).toBe(CLIENT_KIND);
    expect(inTrace(TRACE_ID)).toHaveLength(Object.keys(parents).length + 1);
    expect(new Set(collector.requests)).toEqual(new Set(['POST /v1/traces']));
  });

  it('a trace has the ids of request and payment, and nothing secret', () => {
    expect(spanNamed('midtrans charge').attributes).toContainEqual({
      key: 'lunas.request_id',
      value: { stringValue: 'traced' },
    });
    const text = collector.text();
    expect(text).toContain('lunas.payment_id');
    for (const secret of [service.secretKey, service.masterKey, 'canary-in-url']) expect(text).not.toContain(secret);
  });

  it('reaches the receiver of a webhook as the header traceparent', () => {
    const paid = merchant.received.find(({ body }) => body.event === 'payment.paid');
    expect(paid?.headers.traceparent).toBe(`00-${TRACE_ID}-${spanNamed('webhook payment.paid').spanId}-01`);
  });

  it('a trace that its caller does not sample is not exported, but goes on', () => {
    expect(inTrace(UNSAMPLED_TRACE_ID)).toEqual([]);
    const traceparents = merchant.received.map(({ headers }) => String(headers.traceparent));
    expect(traceparents.filter((given) => given.startsWith(`00-${UNSAMPLED_TRACE_ID}-`))).toHaveLength(2);
  });

  it('starts at a request without one', () => {
    const own = collector.spans.find(({ name, traceId }) => name === 'POST /payments' && traceId !== TRACE_ID);
    expect(own?.parentSpanId ?? '').toBe('');
    expect(spanNamed('webhook payment.pending', own?.traceId).parentSpanId).toBe(
      spanNamed('RunActivity:openPayment', own?.traceId).spanId,
    );
  });
});

describe('without a span', () => {
  it("the caller's traceparent goes to the provider as it is", async () => {
    const headers: unknown[] = [];
    const provider = createServer((request, response) => {
      headers.push(request.headers.traceparent);
      response.writeHead(200).end('{}');
    }).listen(0, '127.0.0.1');
    await once(provider, 'listening');
    const address = provider.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const client = new MidtransClient({ baseUrl: `http://127.0.0.1:${port}`, serverKey: 'key' });
    const call = { signal: new AbortController().signal, deadlineAtMs: Date.now() + 60_000 };
    const request = { method: 'GET', path: '/v2/LN1/status' } as const;
    const traceparent = `00-${TRACE_ID}-${CALLER_SPAN}-01`;
    await withCorrelation({ requestId: 'r', traceparent }, {}, () => client.call(request, call));
    await client.call(request, call);
    await client.close();
    provider.close();
    expect(headers).toEqual([traceparent, undefined]);
  });

  it('no package of OpenTelemetry is loaded by API and worker', () => {
    const script = `
      for (const file of ['servers/api-server', 'servers/worker', 'cli/service-process']) require('./dist/src/' + file);
      const files = Object.keys(require.cache);
      const exporters = files.filter((file) => /opentelemetry.(sdk|exporter|otlp)/.test(file));
      console.log(JSON.stringify({ loadsService: files.length > 100, exporters }));`;
    const output = execFileSync(process.execPath, ['-e', script], { cwd: PACKAGE_ROOT, encoding: 'utf8' });
    expect(JSON.parse(output)).toEqual({ loadsService: true, exporters: [] });
  });
});

describe('without a collector', () => {
  it('requests succeed, a line of the log has the reason, and the process ends', async () => {
    const api = await startApiProcess(service, {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${await freePort()}`,
    });
    const headers = { authorization: `Bearer ${service.secretKey}` };
    expect((await fetch(`${api.url}/transactions`, { headers })).status).toBe(200);
    const log = await eventually(
      () => api.log(),
      (text) => text.includes('trace export failed'),
    );
    expect(log).toContain('ECONNREFUSED');
    expect(await api.stop()).toBe(0);
  });
});
