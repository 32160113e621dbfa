import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { createSealer } from '../src/crypto/sealing';
import { SANDBOX_SERVER_KEY } from '../src/sandbox/acquirers';
import { addAccount } from '../src/services/provider-accounts/provider-accounts';
import type { BenchmarkHarness } from './harness';
import { Http } from './http';
import { closedLoop, openLoop } from './load-generator';
import { BenchmarkMerchant, registerMerchant } from './merchant';
import { Meter } from './meter';
import { median, percentile } from './statistics';

export interface IsolationOptions {
  readonly pairs: number;
  readonly seconds: number;
}

export interface IsolationFigures {
  /** Creates of the neighbour each second. */
  readonly neighbourPerSecond: number;
  readonly healthy: Creates;
  readonly hanging: Creates;
  /** The ratio of the rates: how many times slower the others' creates are. */
  readonly slowdown: number;
}

interface Creates {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** From the event to the arrival of its webhook. */
  readonly deliveryP99Ms: number;
}

export interface IsolationResult {
  readonly receiver: IsolationFigures;
  readonly provider: IsolationFigures;
}

/** With this rate, the neighbour's webhooks are more than a hanging receiver may have in flight. */
const NOTIFIED_PER_SECOND = 10;
/** Each create holds a call to the provider open until its deadline. */
const CHARGED_PER_SECOND = 4;
const CALLERS = 16;
/** A call that hung is repeated after this delay at the latest. */
const UNTIL_REJECTED_MS = 10_000;

/**
 * How much a neighbour whose receiver or provider account hangs slows down the creates and webhooks of other merchants.
 * The baseline is the same load of a healthy neighbour. The order is healthy, hanging, hanging, healthy.
 */
export async function measureIsolation(
  harness: BenchmarkHarness,
  options: IsolationOptions,
  log: (line: string) => void,
): Promise<IsolationResult> {
  const { stack, masterKey, receiver, db } = harness;
  const { databaseUrl } = stack;
  const [api, sandbox] = [new Http(stack.apiUrl), new Http(stack.sandboxUrl)];
  const merchantOf = async (receiverUrl?: string) => {
    const registered = { databaseUrl, masterKey, ...(receiverUrl !== undefined && { receiverUrl }) };
    return new BenchmarkMerchant(api, sandbox, await registerMerchant(registered));
  };
  const others = await merchantOf(`${receiver.url}/timed`);
  const healthy = await merchantOf(`${receiver.url}/healthy`);
  const hanging = await merchantOf(`${receiver.url}/hanging`);
  const hungProvider = await startHangingServer();
  try {
    const receivers = await compare(harness, others, options, {
      perSecond: NOTIFIED_PER_SECOND,
      healthy: () => healthy.createOnly(),
      hanging: () => hanging.createOnly(),
    });
    log(`a hanging receiver: others' creates ${receivers.slowdown.toFixed(2)} times slower`);
    const onAccount = async (baseUrl: string) => {
      await db.query(`update provider_accounts set status = 'disabled' where provider = 'shopeepay'`);
      await addAccount(db, createSealer(masterKey), {
        provider: 'shopeepay',
        adapter: 'midtrans',
        weight: 1,
        serverKey: SANDBOX_SERVER_KEY,
        baseUrl,
        environment: 'sandbox',
      });
    };
    const providers = await compare(harness, others, options, {
      perSecond: CHARGED_PER_SECOND,
      healthy: async () => void (await healthy.create('shopeepay')),
      hanging: async () => void (await healthy.create('shopeepay')),
      beforeHealthy: async () => {
        hungProvider.reject();
        await onAccount(stack.sandboxUrl);
        await sleep(UNTIL_REJECTED_MS);
      },
      beforeHanging: async () => {
        hungProvider.hang();
        await onAccount(hungProvider.url);
      },
    });
    log(`a hanging provider account: others' creates ${providers.slowdown.toFixed(2)} times slower`);
    return { receiver: receivers, provider: providers };
  } finally {
    hungProvider.reject();
    await hungProvider.close();
    await Promise.all([api.close(), sandbox.close()]);
  }
}

interface Neighbour {
  readonly perSecond: number;
  readonly healthy: () => Promise<void>;
  readonly hanging: () => Promise<void>;
  readonly beforeHealthy?: () => Promise<void>;
  readonly beforeHanging?: () => Promise<void>;
}

/** The first calls to the provider hang for this long. Then the neighbour's load is complete. */
const UNTIL_ALL_HANG_SECONDS = 7;

async function compare(
  harness: BenchmarkHarness,
  others: BenchmarkMerchant,
  { pairs, seconds }: IsolationOptions,
  neighbour: Neighbour,
): Promise<IsolationFigures> {
  const { perSecond } = neighbour;
  const readings: Record<'healthy' | 'hanging', Creates[]> = { healthy: [], hanging: [] };
  const beside = async (kind: 'healthy' | 'hanging'): Promise<void> => {
    await (kind === 'healthy' ? neighbour.beforeHealthy?.() : neighbour.beforeHanging?.());
    const finished = new AbortController();
    const neighbourLoad = openLoop(neighbour[kind], { perSecond, seconds: 120 }, finished.signal);
    const loop = { concurrency: CALLERS, warmupSeconds: UNTIL_ALL_HANG_SECONDS, seconds };
    harness.receiver.takeLatencies();
    const reading = await closedLoop(() => others.createOnly(), loop, new Meter(harness.processes));
    finished.abort();
    await neighbourLoad;
    readings[kind].push({
      perSecond: reading.perSecond,
      p50Ms: percentile(reading.latenciesMs, 0.5),
      p99Ms: percentile(reading.latenciesMs, 0.99),
      deliveryP99Ms: percentile(harness.receiver.takeLatencies(), 0.99),
    });
  };
  // Warm-up: V8 compiles what runs for the first time.
  await closedLoop(
    () => others.createOnly(),
    { concurrency: CALLERS, warmupSeconds: 1, seconds },
    new Meter(() => ({})),
  );
  for (let pair = 1; pair <= pairs; pair += 1) {
    const order = pair % 2 === 1 ? (['healthy', 'hanging'] as const) : (['hanging', 'healthy'] as const);
    for (const kind of order) await beside(kind);
  }
  const [healthy, hanging] = [medianOf(readings.healthy), medianOf(readings.hanging)];
  return { neighbourPerSecond: perSecond, healthy, hanging, slowdown: healthy.perSecond / hanging.perSecond };
}

function medianOf(readings: readonly Creates[]): Creates {
  return {
    perSecond: median(readings.map((reading) => reading.perSecond)),
    p50Ms: median(readings.map((reading) => reading.p50Ms)),
    p99Ms: median(readings.map((reading) => reading.p99Ms)),
    deliveryP99Ms: median(readings.map((reading) => reading.deliveryP99Ms)),
  };
}

interface HangingServer {
  readonly url: string;
  /** Ends the hanging calls. From now on every charge is rejected, so that repeated calls end. */
  reject(): void;
  hang(): void;
  close(): Promise<void>;
}

/** A provider that accepts calls and sends no response. */
async function startHangingServer(): Promise<HangingServer> {
  let rejects = false;
  const server = createServer((request, response) => {
    request.resume();
    if (!rejects) return;
    const code = request.url === '/v2/charge' ? '402' : '404';
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ status_code: code }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The hanging provider has no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    hang() {
      rejects = false;
    },
    reject() {
      rejects = true;
      server.closeAllConnections();
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
