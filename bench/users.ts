import { get, type IncomingMessage } from 'node:http';
import type { BenchmarkHarness } from './harness';
import { closedLoop, openLoop } from './load-generator';
import { Meter, type Reading } from './meter';
import { USERS, type BenchmarkShop } from './shop';
import { median, spreadOf, type Spread } from './statistics';

/** Who has the page of an open payment on the screen: as many of one payment as may, in some networks. */
const VIEWERS = 200;
const VIEWERS_OF_PAYMENT = 10;
const NETWORKS = 8;
/** Each user opens a page in 15 s. */
const PAGES_PER_SECOND = USERS / 15;
const PAGES_AT_A_TIME = 32;
const CREATES_AT_A_TIME = 8;

export interface UsersResult {
  readonly alonePerSecond: Spread;
  readonly besidePerSecond: Spread;
  readonly ratio: Spread;
  /** Pages that were not shown. */
  readonly failures: number;
  /** Milliseconds of CPU of the dashboard for each second of the users; the median of the rounds. */
  readonly dashboardCpuMsPerSecond: number;
}

/** Creates beside the users of the dashboard, and without them, in alternating order. */
export async function measureUsers(
  harness: BenchmarkHarness,
  shop: BenchmarkShop,
  { rounds, createSeconds: seconds }: { readonly rounds: number; readonly createSeconds: number },
  log: (line: string) => void,
): Promise<UsersResult> {
  const [alone, beside]: [Reading[], Reading[]] = [[], []];
  let failures = 0;
  const create = () => {
    const loop = { concurrency: CREATES_AT_A_TIME, warmupSeconds: 1, seconds };
    return closedLoop(() => shop.merchant.createOnly(), loop, new Meter(harness.processes));
  };
  const createBeside = async () => {
    const users = await BenchmarkUsers.open(shop);
    const reading = await create();
    failures += await users.leave();
    return reading;
  };
  await createBeside();
  for (let round = 1; round <= rounds; round += 1) {
    const isForward = round % 2 === 1;
    if (isForward) alone.push(await create());
    beside.push(await createBeside());
    if (!isForward) alone.push(await create());
    log(`creates per second: ${rateOf(alone.at(-1))} alone, ${rateOf(beside.at(-1))} beside ${USERS} users`);
  }
  return {
    alonePerSecond: spreadOf(alone.map(({ perSecond }) => perSecond)),
    besidePerSecond: spreadOf(beside.map(({ perSecond }) => perSecond)),
    ratio: spreadOf(beside.map(({ perSecond }, round) => perSecond / (alone[round]?.perSecond ?? NaN))),
    failures,
    dashboardCpuMsPerSecond: median(
      beside.map(({ cpuMs, operations, seconds }) => ((cpuMs['dashboard'] ?? 0) * operations) / seconds),
    ),
  };
}

const rateOf = (reading: Reading | undefined) => reading?.perSecond.toFixed(1) ?? '';

/** Users who open one page after another, and those who watch a payment. */
class BenchmarkUsers {
  private constructor(
    private readonly streams: readonly IncomingMessage[],
    private readonly gone: AbortController,
    private readonly opened: Promise<{ readonly failures: number }>,
  ) {}

  static async open(shop: BenchmarkShop): Promise<BenchmarkUsers> {
    const payments = await Promise.all(
      Array.from({ length: VIEWERS / VIEWERS_OF_PAYMENT }, () => shop.merchant.create()),
    );
    const viewers = payments.flatMap((payment) => Array.from({ length: VIEWERS_OF_PAYMENT }, () => payment));
    const streams = await Promise.all(
      viewers.map(({ reference_id: referenceId }, viewer) =>
        openStream(shop.streamOf(referenceId), `127.0.${1 + (viewer % NETWORKS)}.1`),
      ),
    );
    const pages = shop.dashboardPages();
    const gone = new AbortController();
    let next = 0;
    const openNext = async () => pages[next++ % pages.length]?.open();
    const loop = { perSecond: PAGES_PER_SECOND, seconds: Infinity, maxInFlight: PAGES_AT_A_TIME };
    return new BenchmarkUsers(streams, gone, openLoop(openNext, loop, gone.signal));
  }

  /** @returns how many pages were not shown */
  async leave(): Promise<number> {
    this.gone.abort();
    const { failures } = await this.opened;
    for (const stream of this.streams) stream.destroy();
    return failures;
  }
}

function openStream(
  { url, headers }: ReturnType<BenchmarkShop['streamOf']>,
  localAddress: string,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get(url, { headers, localAddress, family: 4 }, (response) => {
      if (response.statusCode === 200) resolve(response.resume());
      else reject(new Error(`${url} returned ${response.statusCode}`));
    }).once('error', reject);
  });
}
