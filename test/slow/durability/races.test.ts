import { setTimeout as sleep } from 'node:timers/promises';
import { forEachConcurrent } from '../../../src/lib/for-each-concurrent';
import { setPolicy } from '../../../src/services/provider-accounts/catalog';
import { createOpenPayments } from '../../support/bulk';
import { eventually } from '../../support/eventually';
import { newNamespace, startTestService, type ApiResponse, type TestService } from '../../support/service';
import { bySize } from '../../support/size';

const MAX_ROUNDS = 200;
/** Each race runs at least this often. It continues up to the full size until each side has its wins. */
const ROUNDS = bySize({ small: 50, full: MAX_ROUNDS });
const CONCURRENT_PAYMENTS = 25;
/** The limit for all requests of this file. */
const MAX_TIMEOUTS = ROUNDS / 20;
/** Payments that are cancelled by twenty concurrent requests each. */
const CONCURRENT_CANCELS = 5;
/** Each side wins at least one race in ten. */
const MIN_WINS = ROUNDS / 10;

let service: TestService;
beforeAll(async () => {
  service = await startTestService(await newNamespace(), { refundHoldSeconds: 0 });
});
afterAll(() => service.close());

interface Runner {
  readonly id: string;
  readonly reference_id: string;
  readonly expires_at: string;
}

async function createPayments(): Promise<Runner[]> {
  const { body } = await createOpenPayments(service, CONCURRENT_PAYMENTS, 30_000);
  return body.payments;
}

/** By id: the statuses of the payments once no change is pending. */
async function waitForFinalStatuses(
  payments: readonly Runner[],
  openStatuses: readonly string[],
): Promise<Map<string, string>> {
  const ids = payments.map(({ id }) => id);
  const rows = await eventually(
    async () => (await service.db.query('select id, status from payments where id = any ($1)', [ids])).rows,
    (all) => all.every(({ status }) => !openStatuses.includes(status)),
  );
  return new Map(rows.map(({ id, status }) => [id, status]));
}

/** Starts two calls so that they overlap: the second by this many milliseconds after the first, or before it. */
async function startWithOffset<A, B>(
  offsetMs: number,
  first: () => Promise<A>,
  second: () => Promise<B>,
): Promise<[A, B]> {
  return Promise.all([
    sleep(Math.max(0, -offsetMs)).then(first), //
    sleep(Math.max(0, offsetMs)).then(second),
  ]);
}

/**
 * Offsets around the one at which either side wins as often, which differs from machine to machine: spread over a
 * batch, and moved towards the side that won too rarely in the batch before; by more and more while it never wins at
 * all.
 */
function createBarrier(firstSpreadMs: number) {
  let centreMs = 0;
  let spreadMs = firstSpreadMs;
  return {
    offsetMs: (index: number) => centreMs + spreadMs * (index / (CONCURRENT_PAYMENTS - 1) - 0.5),
    /** @param firstWon how many of the batch the first call won: then the second has to start earlier */
    learn(firstWon: number) {
      const isOneSided = firstWon === 0 || firstWon === CONCURRENT_PAYMENTS;
      centreMs -= 2 * spreadMs * (firstWon / CONCURRENT_PAYMENTS - 0.5);
      spreadMs = isOneSided ? spreadMs * 2 : Math.max(firstSpreadMs, spreadMs * 0.75);
    },
  };
}

interface Race {
  readonly sides: readonly [string, string];
  readonly spreadMs: number;
  /** Runs one batch; returns for each payment the side that won, checked against the provider's ledger. */
  readonly run: (offsetMs: (index: number) => number) => Promise<readonly string[]>;
}

/** @returns how often each side won */
async function runRounds({ sides, spreadMs, run }: Race): Promise<number[]> {
  const barrier = createBarrier(spreadMs);
  const wins = new Map<string, number>(sides.map((side) => [side, 0]));
  const isEnough = (done: number) => done >= ROUNDS && Math.min(...wins.values()) >= MIN_WINS;
  for (let done = 0; done < MAX_ROUNDS && !isEnough(done); done += CONCURRENT_PAYMENTS) {
    const winners = await run(barrier.offsetMs);
    for (const winner of winners) wins.set(winner, (wins.get(winner) ?? 0) + 1);
    barrier.learn(winners.filter((winner) => winner === sides[0]).length);
  }
  const score = [...wins].map(([side, count]) => `${side} ${count}`).join(', ');
  console.info(`${sides.join(' against ')}: ${score}; timeouts: ${timeouts}`);
  expect(timeouts).toBeLessThanOrEqual(MAX_TIMEOUTS);
  expect([...wins.keys()]).toEqual(sides);
  return [...wins.values()];
}

function required<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('It is missing');
  return value;
}

async function payloadOf(id: string): Promise<string> {
  return (await service.call('GET', `/payments/${id}/qris`)).body.qris.payload;
}

/** A customer scans and pays; 404 when the order is not open any more. */
async function scan(payload: string): Promise<number> {
  const response = await fetch(`${service.sandboxUrl}/simulator/scan`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ qris_payload: payload }),
  });
  return response.status;
}

/** When a paid payment settles. */
async function settlementOf(id: string): Promise<number> {
  const { rows } = await eventually(
    () => service.db.query('select settlement_due_at as due from payments where id = $1', [id]),
    ({ rows }) => rows[0].due !== null,
  );
  return rows[0].due.getTime();
}

/** Requests that timed out on a busy machine; the outcome of their payments is checked all the same. */
let timeouts = 0;

function expectResponse(response: ApiResponse, won: boolean, code: string): void {
  if (response.status === 500) {
    timeouts += 1;
    return;
  }
  expect(won ? response.status : [response.status, response.body.error.code]).toEqual(won ? 200 : [400, code]);
}

describe('races for one payment', () => {
  it('twenty concurrent cancels: one succeeds, the others are rejected, the provider has cancelled once', async () => {
    const histories = new Set<string>();
    for (let done = 0; done < ROUNDS; done += CONCURRENT_PAYMENTS) {
      const payments = await createPayments();
      await forEachConcurrent(payments, CONCURRENT_CANCELS, async ({ id, reference_id }) => {
        const cancel = () => service.call('POST', `/payments/${id}/cancel`);
        const responses = await Promise.all(Array.from({ length: 20 }, cancel));
        expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
        expect(responses.filter(({ body }) => body.error?.code === 'payment_cancel_failed')).toHaveLength(19);
        expect(await service.atProvider(reference_id)).toMatchObject({ status: 'cancel' });
        histories.add((await service.transitionsOf(id)).join(' '));
      });
    }
    expect([...histories]).toEqual(['create issue cancel']);
  });

  it('a cancel against the customer: the provider decides', async () => {
    const wins = await runRounds({
      sides: ['cancelled', 'paid'],
      spreadMs: 40,
      async run(offsetMs) {
        const payments = await createPayments();
        const payloads = await Promise.all(payments.map(({ id }) => payloadOf(id)));
        const responses = await Promise.all(
          payments.map(({ id }, index) =>
            startWithOffset(
              offsetMs(index),
              () => service.call('POST', `/payments/${id}/cancel`),
              () => scan(payloads[index] ?? ''),
            ),
          ),
        );
        const statuses = await waitForFinalStatuses(payments, ['pending']);
        const ledger = await service.providerLedger();
        return payments.map(({ id, reference_id }, index) => {
          const [response, scanned] = required(responses[index]);
          const won = statuses.get(id) ?? 'missing';
          expectResponse(response, won === 'cancelled', 'payment_cancel_failed');
          expect(scanned).toBe(won === 'cancelled' ? 404 : 200);
          const truth = won === 'cancelled' ? 'cancel' : 'settlement';
          expect(ledger.get(reference_id)).toMatchObject({ status: truth, charge_calls: 1 });
          return won;
        });
      },
    });
    expect(Math.min(...wins)).toBeGreaterThanOrEqual(MIN_WINS);
  });

  it('a cancel against the expiry: the provider decides', async () => {
    await setPolicy(service.db, { provider: 'gopay', channel: 'qris', expiresInSeconds: 3 });
    const wins = await runRounds({
      sides: ['cancelled', 'expired'],
      spreadMs: 160,
      async run(offsetMs) {
        const payments = await createPayments();
        const responses = await Promise.all(
          payments.map(async ({ id, expires_at }, index) => {
            await sleep(Date.parse(expires_at) - offsetMs(index) - Date.now());
            return service.call('POST', `/payments/${id}/cancel`);
          }),
        );
        const statuses = await waitForFinalStatuses(payments, ['pending']);
        const ledger = await service.providerLedger();
        return payments.map(({ id, reference_id }, index) => {
          const won = statuses.get(id) ?? 'missing';
          expectResponse(required(responses[index]), won === 'cancelled', 'payment_cancel_failed');
          const truth = won === 'cancelled' ? 'cancel' : 'expire';
          expect(ledger.get(reference_id)).toMatchObject({ status: truth });
          return won;
        });
      },
    });
    expect(Math.min(...wins)).toBeGreaterThanOrEqual(MIN_WINS);
  });

  it('a refund against the settlement: one is rejected, and no settled payment is refunded', async () => {
    await setPolicy(service.db, {
      provider: 'gopay',
      channel: 'qris',
      expiresInSeconds: 900,
      settlementDelaySeconds: 3,
    });
    const wins = await runRounds({
      sides: ['refunded', 'settled'],
      spreadMs: 160,
      async run(offsetMs) {
        const payments = await createPayments();
        await Promise.all(payments.map(({ reference_id }) => service.pay(reference_id)));
        const responses = await Promise.all(
          payments.map(async ({ id }, index) => {
            await sleep((await settlementOf(id)) - offsetMs(index) - Date.now());
            return service.call('POST', `/payments/${id}/refund`);
          }),
        );
        const statuses = await waitForFinalStatuses(payments, ['paid', 'refund_processing']);
        const ledger = await service.providerLedger();
        return payments.map(({ id, reference_id }, index) => {
          const won = statuses.get(id) ?? 'missing';
          expectResponse(required(responses[index]), won === 'refunded', 'payment_refund_failed');
          const { status, refunds } = required(ledger.get(reference_id));
          expect([status, refunds.length]).toEqual(won === 'refunded' ? ['refund', 1] : ['settlement', 0]);
          return won;
        });
      },
    });
    expect(Math.min(...wins)).toBeGreaterThanOrEqual(MIN_WINS);
  });
});
