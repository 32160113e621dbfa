import { randomUUID } from 'node:crypto';
import { startApiProcess, type ApiProcess } from '../../support/api-process';
import { eventually } from '../../support/eventually';
import { createTestLink, paymentsOfLink, pressButton, type TestLink } from '../../support/payment-links';
import { createPage } from '../../support/payment-page';
import { newNamespace, startTestService, type TestService } from '../../support/service';
import { bySize } from '../../support/size';
import { startTcpProxy } from '../../support/tcp-proxy';
import { percentile } from '../closed-loop';

const VISITORS = bySize({ small: 20, full: 200 });
/** A visitor without Temporal waits for one check of it, and not for the time limit of a request. */
const MAX_MS_WITHOUT_TEMPORAL = 3_000;
const OPENINGS = bySize({ small: 150, full: 600 });
/** Another process of the machine can delay a request: one measurement in this many must be good. */
const MEASUREMENTS = 4;
const MAX_OF_CHECKOUT = 1.2;
const TIMEOUT_MS = 300_000;

let service: TestService;
beforeAll(async () => {
  service = await startTestService(await newNamespace());
});
afterAll(() => service.close());

/** The address of the link at another process. */
const at = ({ url }: ApiProcess, link: TestLink) => ({ url: url + new URL(link.url).pathname });

async function numbersOf({ id }: TestLink): Promise<number[]> {
  const { rows } = await service.db.query<{ number: number }>(
    'select number from payment_link_payments where link_id = $1',
    [id],
  );
  return rows.map(({ number }) => number);
}

/** How many statements of visitors wait for the lock of a link. */
async function countWaiting(): Promise<number> {
  const { rowCount } = await service.db.query(
    `select from pg_stat_activity
     where datname = current_database() and wait_event_type = 'Lock' and query like '%open_payment_link(%'`,
  );
  return rowCount ?? 0;
}

/** The process is killed while PostgreSQL executes the statement that takes the number: it never learns the number. */
async function killBetweenNumberAndCreate(link: TestLink): Promise<void> {
  const api = await startApiProcess(service);
  const lock = await service.db.connect();
  try {
    await lock.query('begin');
    await lock.query('select from payment_links where id = $1 for update', [link.id]);
    const pressed = pressButton(at(api, link)).then(
      () => 'a response',
      () => 'none',
    );
    await eventually(countWaiting, (count) => count === 1);
    api.signal('SIGKILL');
    expect(await pressed).toBe('none');
    await lock.query('commit');
  } finally {
    lock.release();
    await api.stop();
  }
}

it(
  'a killed process leaves a number, and visitors at the same time get one code for it',
  async () => {
    const link = await createTestLink(service);
    await killBetweenNumberAndCreate(link);
    await eventually(
      () => numbersOf(link),
      (numbers) => numbers.length === 1,
    );
    expect(await paymentsOfLink(service.db, link)).toEqual([]);

    const responses = await Promise.all(Array.from({ length: VISITORS }, () => pressButton(link)));
    expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 303));
    const locations = new Set(responses.map(({ headers }) => headers.get('location')));
    expect(locations.size).toBe(1);
    expect(await numbersOf(link)).toEqual([1]);
    const [payment, ...others] = await paymentsOfLink(service.db, link);
    expect([payment?.status, others]).toEqual(['pending', []]);
    expect((await service.atProvider(payment?.referenceId ?? ''))?.charge_calls).toBe(1);
    expect(await (await fetch([...locations][0] ?? '')).text()).toContain('role="img"');
  },
  TIMEOUT_MS,
);

it(
  '503 within 3 s, and no number: Temporal is away',
  async () => {
    const proxy = await startTcpProxy(service.temporal.address);
    const api = await startApiProcess(service, { TEMPORAL_ADDRESS: proxy.address });
    const link = await createTestLink(service, { kind: 'reusable', amount: 20_000 });
    const attempt = randomUUID();
    proxy.hang();
    await eventually(
      () => fetch(`${api.url}/readyz?for=creates`).then((response) => response.json()),
      ({ temporal }) => temporal === 'down',
    );
    const startedMs = performance.now();
    const response = await pressButton(at(api, link), { attempt });
    const tookMs = performance.now() - startedMs;
    const html = await response.text();
    await Promise.all([api.stop(), proxy.close()]);

    expect(response.status).toBe(503);
    expect(html).toContain('Press the button again: it makes one payment.');
    expect(html).toContain(attempt);
    expect(tookMs).toBeLessThan(MAX_MS_WITHOUT_TEMPORAL);
    expect(await numbersOf(link)).toEqual([]);
    expect((await pressButton(link, { attempt })).status).toBe(303);
    expect((await pressButton(link, { attempt })).status).toBe(303);
    expect(await numbersOf(link)).toEqual([1]);
  },
  TIMEOUT_MS,
);

async function durationOf(url: string): Promise<number> {
  const startedMs = performance.now();
  const response = await fetch(url);
  await response.arrayBuffer();
  expect(response.status).toBe(200);
  return performance.now() - startedMs;
}

it(
  'the page of a link takes about as long as a checkout page',
  async () => {
    const api = await startApiProcess(service, { PUBLIC_RATE_LIMIT_PER_SECOND: '1000000' });
    const own = (url: string) => api.url + new URL(url).pathname;
    const [link, checkout] = [own((await createTestLink(service)).url), own((await createPage(service)).url)];
    const ratioOf = async () => {
      const [links, checkouts] = [new Array<number>(), new Array<number>()];
      for (let opening = 0; opening < OPENINGS; opening += 1) {
        links.push(await durationOf(link));
        checkouts.push(await durationOf(checkout));
      }
      return percentile(links, 0.95) / percentile(checkouts, 0.95);
    };
    const ratios: number[] = [];
    await ratioOf();
    while (ratios.length < MEASUREMENTS && !(Math.min(...ratios) <= MAX_OF_CHECKOUT)) ratios.push(await ratioOf());
    await api.stop();
    expect(Math.min(...ratios)).toBeLessThanOrEqual(MAX_OF_CHECKOUT);
  },
  TIMEOUT_MS,
);
