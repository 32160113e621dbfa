import { setTimeout as sleep } from 'node:timers/promises';
import { residentMegabytesOf } from '../../../bench/cpu';
import { BenchmarkHarness } from '../../../bench/harness';
import { Http } from '../../../bench/http';
import { openLoop } from '../../../bench/load-generator';
import { BenchmarkMerchant, registerMerchant } from '../../../bench/merchant';
import { BenchmarkShop } from '../../../bench/shop';
import { median } from '../../../bench/statistics';
import { describeInFullSize } from '../../support/size';

/** The steady load of an hour, which two cores can do beside other work. */
const SECONDS = 3_600;
const LIFECYCLES_PER_SECOND = 2;
/** Payments that stay open fill the worker's cache of 500 workflows in the first third. */
const OPEN_PER_SECOND = 0.5;
const PAGES_PER_SECOND = 1;
const SAMPLE_MS = 10_000;
/** The median of the last third divided by that of the middle third. A leak of 12 kB for each call makes it 1.2. */
const MAX_GROWTH = 1.1;
const PROCESSES = ['api', 'worker', 'dashboard', 'temporal'] as const;

/** Failures are not the subject here: a machine that is too slow rejects some creates. */
const regardless = (operation: () => Promise<unknown>) => (): Promise<void> =>
  operation().then(
    () => undefined,
    () => undefined,
  );

describeInFullSize('an hour of load', () => {
  let harness: BenchmarkHarness;
  let shop: BenchmarkShop;
  let https: readonly Http[];

  beforeAll(async () => {
    harness = await BenchmarkHarness.start();
    shop = await BenchmarkShop.open(harness);
    https = [new Http(harness.stack.apiUrl), new Http(harness.stack.sandboxUrl)];
  });

  afterAll(async () => {
    await Promise.all(https.map((http) => http.close()));
    await shop.close();
    await harness.close();
  });

  async function generateLoad(): Promise<void> {
    const [api, sandbox] = https;
    if (!api || !sandbox) throw new Error('There is no client');
    const { stack, masterKey, receiver } = harness;
    const receiverUrl = `${receiver.url}/lifecycles`;
    const secretKey = await registerMerchant({ databaseUrl: stack.databaseUrl, masterKey, receiverUrl });
    const merchant = new BenchmarkMerchant(api, sandbox, secretKey);
    const lifecycle = async (): Promise<void> => {
      const { id } = await merchant.createAndPay();
      await receiver.lifecycle(id);
      await merchant.get(id);
    };
    const pages = shop.dashboardPages();
    let opened = 0;
    const openPage = async (): Promise<void> => pages[(opened += 1) % pages.length]?.open();
    const rates = [
      [lifecycle, LIFECYCLES_PER_SECOND],
      [() => merchant.createOnly(), OPEN_PER_SECOND],
      [openPage, PAGES_PER_SECOND],
    ] as const;
    await Promise.all(
      rates.map(([operation, perSecond]) => openLoop(regardless(operation), { perSecond, seconds: SECONDS })),
    );
  }

  it('the memory of API, worker, dashboard and Temporal reaches a plateau', async () => {
    const samples: Record<(typeof PROCESSES)[number], number[]> = { api: [], worker: [], dashboard: [], temporal: [] };
    const over = new AbortController();
    const load = generateLoad().finally(() => over.abort());
    while (!over.signal.aborted) {
      await sleep(SAMPLE_MS);
      for (const name of PROCESSES) samples[name].push(residentMegabytesOf(harness.processes()[name] ?? 0));
    }
    await load;
    const growth = PROCESSES.map((name) => {
      const third = Math.floor(samples[name].length / 3);
      const [middle, last] = [samples[name].slice(third, 2 * third), samples[name].slice(2 * third)].map(median);
      return { name, middle, last, isPlateau: (last ?? Infinity) <= (middle ?? 0) * MAX_GROWTH };
    });
    expect(growth.filter(({ isPlateau }) => !isPlateau)).toEqual([]);
  });
});
