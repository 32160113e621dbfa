import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { residentMegabytesOf } from '../../../bench/cpu';
import { latenciesOf, MerchantLoad, percentile, rateOf, type LoadResult } from '../closed-loop';
import { SeparateService } from '../separate-service';

/** More callers than this machine can serve, at the built processes with their default limits. */

const TIMEOUT_MS = 600_000;
const FEW_CALLERS = 8;
const MANY_CALLERS = 200;
const CALLERS_OF_A_MERCHANT = 16;
const OVERLOAD_SECONDS = 60;
const COMPARED_SECONDS = 15;
const ACCEPTED_SECONDS = 5;
const PROBE_INTERVAL_MS = 100;

let service: SeparateService;
let load: MerchantLoad;

beforeAll(async () => {
  service = await SeparateService.open();
  await service.startServices();
  await service.start('api');
  await service.start('worker');
  load = new MerchantLoad(service.run);
  // V8 compiles what runs for the first time.
  await load.create(FEW_CALLERS, 10);
}, TIMEOUT_MS);

afterAll(async () => {
  await load.close();
  await service.stopAll();
}, TIMEOUT_MS);

interface Probes {
  readonly getsMs: number[];
  readonly apiMegabytes: number[];
}

/** Reads a payment, and the memory of the API, until `done` ends. */
async function probeUntil(done: Promise<unknown>, paymentId: string): Promise<Probes> {
  const probes: Probes = { getsMs: [], apiMegabytes: [] };
  const over = new AbortController();
  void done.finally(() => over.abort()).catch(() => undefined);
  while (!over.signal.aborted) {
    const { status, tookMs } = await load.send('GET', `/payments/${paymentId}`);
    expect(status).toBe(200);
    probes.getsMs.push(tookMs);
    probes.apiMegabytes.push(residentMegabytesOf(service.pid('api')));
    await sleep(PROBE_INTERVAL_MS);
  }
  return probes;
}

async function createdId(): Promise<string> {
  const { text } = await load.send('POST', '/payments', { amount: 10_000 });
  return z.object({ payment: z.object({ id: z.string() }) }).parse(JSON.parse(text)).payment.id;
}

const statusesOf = ({ responses }: LoadResult): number[] =>
  [...new Set(responses.map(({ status }) => status))].toSorted((one, other) => one - other);

it(
  '200 callers: 429 in time for those beyond the limit, and no fewer creates than with 8 callers',
  async () => {
    const paymentId = await createdId();
    const before = await load.create(FEW_CALLERS, COMPARED_SECONDS);
    const overload = load.create(MANY_CALLERS, OVERLOAD_SECONDS);
    const { getsMs, apiMegabytes } = await probeUntil(overload, paymentId);
    const result = await overload;
    const after = await load.create(FEW_CALLERS, COMPARED_SECONDS);

    expect(statusesOf(result)).toEqual([201, 429]);
    const [admittedMs, rejectedMs] = [latenciesOf(result.responses, 201), latenciesOf(result.responses, 429)];
    const baseline = (rateOf(before, 201) + rateOf(after, 201)) / 2;
    const quarter = apiMegabytes.length / 4;
    const measured = {
      rateRatio: rateOf(result, 201) / baseline,
      perSecond: { with8Callers: baseline, rejected: rejectedMs.length / result.seconds },
      admittedMs: [percentile(admittedMs, 0.5), percentile(admittedMs, 0.99)],
      rejectedMs: [percentile(rejectedMs, 0.5), percentile(rejectedMs, 0.99)],
      getMs: [percentile(getsMs, 0.5), percentile(getsMs, 0.99)],
      megabytes: [
        percentile(apiMegabytes.slice(quarter, 2 * quarter), 0.5),
        percentile(apiMegabytes.slice(3 * quarter), 0.5),
      ],
    };
    console.info(JSON.stringify(measured));
    const [admittedP50 = 0, admittedP99] = measured.admittedMs;
    const [secondQuarter = 0, lastQuarter] = measured.megabytes;
    // A quiet machine reaches 0.9, and 100 ms for a rejection. Other processes share this one.
    expect(measured.rateRatio).toBeGreaterThan(0.7);
    expect(admittedP99).toBeLessThan(5_000);
    expect(measured.rejectedMs[0]).toBeLessThan(admittedP50 / 4);
    expect(measured.getMs[1]).toBeLessThan(admittedP50);
    // V8's heap reaches its size within a minute or two.
    expect(lastQuarter).toBeLessThan(1.5 * secondQuarter);
  },
  TIMEOUT_MS,
);

it(
  '16 callers of one merchant: none is rejected',
  async () => {
    expect(statusesOf(await load.create(CALLERS_OF_A_MERCHANT, ACCEPTED_SECONDS))).toEqual([201]);
  },
  TIMEOUT_MS,
);
