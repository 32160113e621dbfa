import { setTimeout as sleep } from 'node:timers/promises';
import { residentMegabytesOf } from './cpu';
import type { BenchmarkHarness } from './harness';
import { Http } from './http';
import { openLoop } from './load-generator';
import { BenchmarkMerchant, registerMerchant } from './merchant';
import { BenchmarkShop } from './shop';
import { median } from './statistics';

/** A load that two cores can do beside other work. */
const PER_SECOND = { lifecycles: 2, pages: 1, open: 0.5 } as const;
const SAMPLES = 180;
const PROCESSES = ['api', 'worker', 'dashboard', 'temporal'] as const;
type MeasuredProcess = (typeof PROCESSES)[number];

/** Megabytes of a process: the medians of the middle third and of the last third of the load. */
interface MemoryFigures {
  readonly middle: number;
  readonly last: number;
}
export type MemoryResult = Readonly<Record<MeasuredProcess, MemoryFigures>>;

/**
 * Measures whether the memory reaches a plateau under a steady load. In an hour, payments that stay open fill the
 * worker's cache of workflows in the first third.
 */
export async function measureMemory(harness: BenchmarkHarness, seconds: number): Promise<MemoryResult> {
  const shop = await BenchmarkShop.open(harness);
  const over = new AbortController();
  const load = generateLoad(harness, shop, seconds).finally(() => over.abort());
  const samples: Record<MeasuredProcess, number[]> = { api: [], worker: [], dashboard: [], temporal: [] };
  try {
    while (!over.signal.aborted) {
      await sleep((seconds * 1_000) / SAMPLES);
      for (const name of PROCESSES) samples[name].push(residentMegabytesOf(harness.processes()[name] ?? 0));
    }
    await load;
  } finally {
    await shop.close();
  }
  const { api, worker, dashboard, temporal } = samples;
  return {
    api: figuresOf(api),
    worker: figuresOf(worker),
    dashboard: figuresOf(dashboard),
    temporal: figuresOf(temporal),
  };
}

function figuresOf(samples: readonly number[]): MemoryFigures {
  const third = Math.floor(samples.length / 3);
  return { middle: median(samples.slice(third, 2 * third)), last: median(samples.slice(2 * third)) };
}

/** A request that fails is not repeated: a busy machine rejects some creates. */
async function generateLoad(harness: BenchmarkHarness, shop: BenchmarkShop, seconds: number): Promise<void> {
  const { stack, masterKey, receiver } = harness;
  const [api, sandbox] = [new Http(stack.apiUrl), new Http(stack.sandboxUrl)];
  const receiverUrl = `${receiver.url}/lifecycles`;
  const secretKey = await registerMerchant({ databaseUrl: stack.databaseUrl, masterKey, receiverUrl });
  const merchant = new BenchmarkMerchant(api, sandbox, secretKey);
  const pages = shop.dashboardPages();
  let opened = 0;
  const lifecycle = async (): Promise<void> => {
    const { id } = await merchant.createAndPay();
    await receiver.lifecycle(id);
    await merchant.get(id);
  };
  const openPage = async (): Promise<void> => {
    opened += 1;
    await pages[opened % pages.length]?.open();
  };
  await Promise.all([
    openLoop(lifecycle, { perSecond: PER_SECOND.lifecycles, seconds }),
    openLoop(openPage, { perSecond: PER_SECOND.pages, seconds }),
    openLoop(() => merchant.createOnly(), { perSecond: PER_SECOND.open, seconds }),
  ]);
  await Promise.all([api.close(), sandbox.close()]);
}
