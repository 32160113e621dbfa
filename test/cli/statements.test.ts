import { randomUUID } from 'node:crypto';
import { applyTransitions } from '../services/ledger/transition-path';
import { closeDaysUntil, countLines } from '../support/close-days';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { createTestLedger, type TestLedger } from '../support/payments';
import { runLunas } from './run-lunas';

let database: TestDatabase;
let ledger: TestLedger;
let environment: NodeJS.ProcessEnv;
let openDay: string;

beforeAll(async () => {
  database = await createTestDatabase();
  ledger = await createTestLedger(() => Promise.resolve(database));
  environment = { DATABASE_URL: database.urlOf('lunas_local_operator') };
  // The open day is ahead of the clock from here on, so midnight changes nothing.
  await closeDaysUntil(ledger.db, 'booking_day(now()) + 1');
  const settled = ['issue', 'pay', 'settle'] as const;
  await applyTransitions(ledger, settled, { merchantReferenceId: '=1+1' });
  await closeDaysUntil(ledger.db, 'booking_day(now()) + 2');
  const refunded = ['issue', 'pay', 'request_refund', 'submit_refund', 'confirm_refund'] as const;
  await applyTransitions(ledger, refunded, { merchantReferenceId: 'ORDER "2", late' });
  await countLines(ledger.db);
  const { rows } = await ledger.db.query<{ day: string }>('select (max(day) + 1)::text as day from closed_days');
  openDay = rows[0]?.day ?? '';
});
afterAll(() => ledger.close());

const statements = (...args: readonly string[]) =>
  runLunas(['statements', ...args, '--merchant', ledger.merchantId], environment);

function dayBefore(day: string): string {
  return new Date(Date.parse(day) - 86_400_000).toISOString().slice(0, 10);
}

describe('lunas statements', () => {
  it('lists the days of a month: closed ones, and the open one as provisional', async () => {
    const days: unknown[] = [];
    for (const month of new Set([dayBefore(openDay).slice(0, 7), openDay.slice(0, 7)])) {
      const { exitCode, stdout } = await statements('list', '--month', month, '--json');
      expect(exitCode).toBe(0);
      days.push(...JSON.parse(stdout).days);
    }
    const [closed, open] = [
      { day: dayBefore(openDay), opening_rupiah: 0, credit_rupiah: 49_650, debit_rupiah: 0, closing_rupiah: 49_650 },
      { day: openDay, opening_rupiah: 49_650, credit_rupiah: 0, debit_rupiah: 350, closing_rupiah: 49_300 },
    ];
    expect(days).toEqual([
      { ...closed, line_count: 1, is_closed: true },
      { ...open, line_count: 1, is_closed: false },
    ]);
    const { stdout } = await statements('list', '--month', openDay.slice(0, 7));
    expect(stdout).toMatch(/^DAY +OPENING +IN +OUT +CLOSING +LINES +STATE\n/);
    expect(stdout).toMatch(/Rp 49\.650 +Rp 0 +Rp 350 +Rp 49\.300 +1 +provisional\n$/);
  });

  it('shows opening, lines and closing of a day', async () => {
    const { stdout } = await statements('show', '--day', dayBefore(openDay));
    expect(stdout).toMatch(/State +closed\nOpening +Rp 0\nClosing +Rp 49\.650\nLines +1\n/);
    expect(stdout).toMatch(/2026-11-21T15:00:03\.000\+07:00 +settlement +LN\w{16} +Rp 49\.650 +Rp 49\.650\n/);
    const json = await statements('show', '--day', openDay, '--json');
    expect(JSON.parse(json.stdout).statement).toMatchObject({
      opening_rupiah: 49_650,
      closing_rupiah: 49_300,
      is_closed: false,
      lines: [{ kind: 'refund_fee', amount_rupiah: -350, balance_after_rupiah: 49_300 }],
      has_more: false,
    });
    expect((await statements('show', '--day', '2020-01-01')).stdout).toContain('did not change on this day');
  });

  it('prints a day as CSV, in which a spreadsheet computes nothing, and which shows if it is not final', async () => {
    const header = '\uFEFFbooked_on,occurred_at,kind,reference,merchant_reference_id,amount,balance_after,state\r\n';
    const at = '2026-11-21T15:00';
    const first = await statements('show', '--day', dayBefore(openDay), '--csv');
    expect(first.stdout.replace(/LN\w{16}/, 'LN')).toBe(
      `${header}${dayBefore(openDay)},${at}:03.000+07:00,settlement,LN,'=1+1,49650,49650,closed\r\n`,
    );
    const second = await statements('show', '--day', openDay, '--csv');
    expect(second.stdout.replace(/LN\w{16}/, 'LN')).toBe(
      `${header}${openDay},${at}:05.000+07:00,refund_fee,LN,"ORDER ""2"", late",-350,49300,provisional\r\n`,
    );
  });

  it('rejects a merchant that does not exist, and a day or a month that is none', async () => {
    const unknown = await runLunas(['statements', 'list', '--merchant', randomUUID()], environment);
    expect(unknown).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('There is no merchant') });
    expect(await statements('list', '--month', '2026-13')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('--month must be a month such as 2026-11'),
    });
    expect(await statements('show', '--day', '2026-02-30')).toMatchObject({ exitCode: 2 });
    expect(await statements('show', '--day', openDay, '--csv', '--json')).toMatchObject({ exitCode: 2 });
  });
});
