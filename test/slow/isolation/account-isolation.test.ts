import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { latenciesOf, MerchantLoad, percentile, rateOf } from '../closed-loop';
import { SeparateService } from '../separate-service';

/** One provider account accepts calls and never responds; another one works. Both have creates of the same merchant. */

const TIMEOUT_MS = 600_000;
const CALLERS = 8;
const COMPARED_SECONDS = 15;
const HANGING_PER_SECOND = 30;
/** By now the creation slots and call slots of the hanging account are taken. */
const UNTIL_FULL_MS = 5_000;
/** A third of the worker's 40 slots. */
const CALLS_PER_ACCOUNT = 13;

let service: SeparateService;
let load: MerchantLoad;
let hanging: { readonly url: string; inFlight(): number; close(): Promise<void> };

beforeAll(async () => {
  service = await SeparateService.open();
  await service.startServices();
  await service.start('api');
  await service.start('worker');
  // It queries the provider too, and must not start at a full hour.
  await service.client.schedule.getHandle('reconciliation').pause();
  load = new MerchantLoad(service.run);
  hanging = await startHangingAcquirer();
  await moveGopayTo(hanging.url);
  // V8 compiles what runs for the first time.
  await load.create(CALLERS, 10, 'shopeepay');
}, TIMEOUT_MS);

afterAll(async () => {
  await load.close();
  await service.stopAll();
  await hanging.close();
}, TIMEOUT_MS);

async function startHangingAcquirer() {
  let inFlight = 0;
  const server = createServer((_request, response) => {
    inFlight += 1;
    response.once('close', () => (inFlight -= 1));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`,
    inFlight: () => inFlight,
    async close() {
      server.closeAllConnections();
      await once(server.close(), 'close');
    },
  };
}

const accountsSchema = z.object({ accounts: z.array(z.object({ id: z.string(), provider: z.string().nullable() })) });

async function moveGopayTo(url: string): Promise<void> {
  const { accounts } = accountsSchema.parse((await service.command(['accounts', 'list'])).json);
  const seeded = accounts.find(({ provider }) => provider === 'gopay');
  const added = await service.command(
    ['accounts', 'add', '--provider', 'gopay', '--adapter', 'midtrans', '--server-key-env', 'KEY', '--base-url', url],
    { KEY: 'hangs' },
  );
  const disabled = await service.command(['accounts', 'disable', seeded?.id ?? '']);
  expect([added.exitCode, disabled.exitCode]).toEqual([0, 0]);
}

interface HangingCreates {
  /** The counts of responses by status. */
  readonly statuses: ReadonlyMap<number, number>;
  /** Calls at the acquirer, once for each create. */
  readonly inFlight: readonly number[];
}

/** Creates at a fixed rate, whatever the responses. */
async function createAtHangingAccount(until: AbortSignal): Promise<HangingCreates> {
  const statuses = new Map<number, number>();
  const inFlight: number[] = [];
  const requests: Promise<void>[] = [];
  while (!until.aborted) {
    const request = load.send('POST', '/payments', { amount: 10_000, provider: 'gopay' });
    requests.push(request.then(({ status }) => void statuses.set(status, (statuses.get(status) ?? 0) + 1)));
    inFlight.push(hanging.inFlight());
    await sleep(1_000 / HANGING_PER_SECOND);
  }
  await Promise.all(requests);
  return { statuses, inFlight };
}

it(
  'an account that hangs takes a third of the slots, and creates at another account continue',
  async () => {
    const alone = await load.create(CALLERS, COMPARED_SECONDS, 'shopeepay');
    const over = new AbortController();
    const hangingCreates = createAtHangingAccount(over.signal);
    await sleep(UNTIL_FULL_MS);
    const beside = await load.create(CALLERS, COMPARED_SECONDS, 'shopeepay');
    over.abort();
    const { statuses, inFlight } = await hangingCreates;

    const [aloneMs, besideMs] = [latenciesOf(alone.responses, 201), latenciesOf(beside.responses, 201)];
    const ratio = (fraction: number) => percentile(besideMs, fraction) / percentile(aloneMs, fraction);
    const measured = { p50: ratio(0.5), p95: ratio(0.95), statuses: [...statuses], calls: percentile(inFlight, 0.9) };
    console.info(JSON.stringify({ ...measured, perSecond: [rateOf(alone, 201), rateOf(beside, 201)] }));
    expect(beside.responses.filter(({ status }) => status !== 201)).toEqual([]);
    // The acquirer notices the end of a call a little later than the worker, which makes the next one.
    expect(measured.calls).toBeLessThanOrEqual(CALLS_PER_ACCOUNT);
    // A quiet machine reaches 1.2. Other processes share this one.
    expect(measured.p50).toBeLessThan(2);
    expect(statuses.get(201)).toBeUndefined();
  },
  TIMEOUT_MS,
);
