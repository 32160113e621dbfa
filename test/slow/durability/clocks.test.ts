import { chmod, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createPool } from '../../../src/db/connection/pool';
import { closeNextDay, endDays } from '../../../src/db/ledger/balance-days';
import { dayInWib } from '../../../src/domain/wib';
import { freePort } from '../../../src/local-stack/ports';
import { ensureDatabase, PostgresCluster } from '../../../src/local-stack/postgres';
import { shiftedClock, withEnvironment } from '../../faults/clock';
import { applyTransitions } from '../../services/ledger/transition-path';
import { runBuiltLunas } from '../../support/lunas-process';
import { createTestLedger } from '../../support/payments';
import { runSingleTrial, TRIAL_TIMEOUT_MS } from '../single-trial';

const OFF_SECONDS = 600;

it(
  'PostgreSQL or a worker with a clock ten minutes off: no double charge or refund, nothing settled or expired early',
  async () => {
    expect(await runSingleTrial('clocks')).toEqual([]);
  },
  TRIAL_TIMEOUT_MS,
);

it.each([OFF_SECONDS, -OFF_SECONDS])(
  'Temporal with a clock that is off by %i s: no double charge or refund, nothing settled or expired early',
  // Every process except Temporal has the shifted clock (test/faults/clocks.ts).
  async (offsetSeconds) => {
    expect(await runSingleTrial('temporal-clock', shiftedClock(-offsetSeconds))).toEqual([]);
  },
  TRIAL_TIMEOUT_MS,
);

describe('PostgreSQL with a clock minutes or a day off at the end of a day in WIB', () => {
  const MINUTE_MS = 60_000;
  const midnightMs = Date.parse('2026-11-30T17:00:00Z');
  let directory: string;
  let cluster: PostgresCluster;

  beforeAll(async () => {
    directory = await mkdtemp(path.join(os.tmpdir(), 'lunas-clock-'));
    await chmod(directory, 0o755); // another OS user runs PostgreSQL
    const files = { directory: path.join(directory, 'postgres'), logFile: path.join(directory, 'postgres.log') };
    cluster = await PostgresCluster.open({ ...files, port: await freePort() }, new AbortController().signal);
  });
  afterAll(() => rm(directory, { recursive: true }));

  /** Does this while the clock of the server is so many minutes after midnight. */
  async function at<T>(minutes: number, work: (url: string) => Promise<T>): Promise<T> {
    const offsetSeconds = Math.round((midnightMs + minutes * MINUTE_MS - Date.now()) / 1_000);
    const start = () => cluster.start(new AbortController().signal);
    const server = await withEnvironment(shiftedClock(offsetSeconds), start);
    try {
      return await work(cluster.databaseUrl('lunas'));
    } finally {
      await server.stop();
    }
  }

  it('no closed day changes, and each line is in one day', async () => {
    const ledger = await at(-10, async (url) => {
      await ensureDatabase(cluster.databaseUrl('postgres'), 'lunas');
      expect(await runBuiltLunas(['migrate'], { DATABASE_URL: url, LUNAS_ENVIRONMENT: 'sandbox' })).toMatchObject({
        exitCode: 0,
      });
      return createTestLedger(() => Promise.resolve({ url, urlOf: () => url, drop: () => Promise.resolve() }));
    });
    const closed = new Map<string, string>();
    // The clock of PostgreSQL, and that of Temporal if it is another: once PostgreSQL is a day ahead.
    const clocks = [[-2], [8], [-2], [28], [8], [18], [1_468, 30], [19], [1_468], [1_448]] as const;
    for (const [minutes, temporalMinutes = minutes] of clocks) {
      await at(minutes, async (url) => {
        const db = createPool(url, { max: 2 });
        await applyTransitions({ ...ledger, db, context: { ...ledger.context, db } }, ['issue', 'pay', 'settle']);
        await endDays(db, dayInWib(new Date(midnightMs + temporalMinutes * MINUTE_MS)));
        while ((await closeNextDay(db)) !== null);
        const { rows } = await db.query<{ day: string; balance: string }>(
          `select day::text, concat_ws(' ', closing_rupiah, credit_rupiah, debit_rupiah, line_count) as balance
           from balance_days order by day`,
        );
        for (const { day, balance } of rows) {
          expect({ minutes, day, balance }).toEqual({ minutes, day, balance: closed.get(day) ?? balance });
          closed.set(day, balance);
        }
        await db.end();
      });
    }
    expect(Object.fromEntries(closed)).toEqual({ '2026-11-30': '99300 99300 0 2', '2026-12-01': '347550 248250 0 5' });
    await ledger.db.end();
  });
});
