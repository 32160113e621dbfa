import { randomUUID } from 'node:crypto';
import { beginRecovery, endRecovery, readRecoveryMode } from '../../../src/db/operations/recovery-mode';
import { listDueMerchants } from '../../../src/db/payouts/due-merchants';
import type { ScheduledPayoutsPart } from '../../../src/domain/payout-schedule';
import { dayInWib } from '../../../src/domain/wib';
import { changeHold } from '../../../src/services/merchants/merchants';
import type { PayoutWorkflows } from '../../../src/services/payouts/payouts';
import { requestScheduledPayouts } from '../../../src/services/payouts/scheduled-payouts';
import { PAYOUTS_TASK_QUEUE } from '../../../workflows/ids';
import { requestScheduledPayouts as runOfDay } from '../../../workflows/scheduled-payouts';
import { asSuperuser } from '../../support/backdate';
import { SILENT } from '../../support/collect-log';
import { recordHistory } from '../../support/history';
import { NET_RUPIAH, ORDINARY, preparePayoutsAtBank, type PayoutsAtBank } from '../../support/payouts-at-bank';
import { newNamespace, startTestService, type TestService } from '../../support/service';
import { bySize } from '../../support/size';

/** Who are due in the daily run. */
const MERCHANTS = bySize({ small: 100, full: 1_000 });
const DAY_MS = 86_400_000;
/** A balance of so many lines, of which one payout pays two. */
const PARTS = bySize({ small: { hundredMillions: 44, requested: 22 }, full: { hundredMillions: 410, requested: 200 } });
const TIMEOUT_MS = bySize({ small: 120_000, full: 900_000 });

let service: TestService;
let payouts: PayoutsAtBank;

beforeAll(async () => {
  service = await startTestService(await newNamespace());
  payouts = await preparePayoutsAtBank(service);
});
afterAll(() => service.close());

describe('the daily run', () => {
  interface Settings {
    readonly weekday: number;
    readonly minimumRupiah: number;
  }
  const startOfRun = () => ({ day: dayInWib(new Date()), startedAtMs: Date.now(), after: null, merchantIds: null });
  const isoWeekday = () => new Date(`${startOfRun().day}T00:00Z`).getUTCDay() || 7;

  async function pays(merchantId: string, schedule: 'daily' | 'weekly' | 'manual', changes: Partial<Settings> = {}) {
    const { weekday = null, minimumRupiah = 50_000 } = changes;
    await service.db.query(
      `insert into payout_settings (merchant_id, schedule, weekday, minimum_rupiah, changed_by, changed_at)
       select $1, $2, $3, $4, 'user:' || user_id, now() from members where merchant_id = $1
       on conflict (merchant_id) do update set schedule = excluded.schedule, weekday = excluded.weekday`,
      [merchantId, schedule, weekday, minimumRupiah],
    );
    return merchantId;
  }
  const newMerchant = async (schedule: 'daily' | 'weekly' | 'manual', changes: Partial<Settings> = {}) =>
    pays((await payouts.newShop(ORDINARY)).merchantId, schedule, changes);

  /** The part of a run, in this process. */
  const runPart = (
    part: ScheduledPayoutsPart,
    watch: Partial<Parameters<typeof requestScheduledPayouts>[2]> = {},
    workflows: PayoutWorkflows = service.workflows.payouts,
  ) => {
    const dependencies = { db: service.db, workflows, log: SILENT };
    const { signal: stopSignal } = new AbortController();
    return requestScheduledPayouts(dependencies, part, {
      attempt: 1,
      onProgress: () => undefined,
      stopSignal,
      ...watch,
    });
  };
  /** A whole run, by the worker. */
  const run = (workflowId: string) =>
    service.client.workflow.execute(runOfDay, { workflowId, taskQueue: PAYOUTS_TASK_QUEUE });

  async function countByMerchant(): Promise<Map<string, number>> {
    const { rows } = await service.db.query<{ id: string; count: number }>(
      `select merchant_id as id, count(*)::integer as count from payouts
       where requested_by = 'schedule' and approval_kind = 'none' group by merchant_id`,
    );
    return new Map(rows.map(({ id, count }) => [id, count]));
  }

  it(
    'requests one payout for each merchant who is due, however often it runs and wherever it stops',
    async () => {
      const due = await Promise.all([
        ...Array.from({ length: MERCHANTS - 1 }, () => newMerchant('daily')),
        newMerchant('weekly', { weekday: isoWeekday() }),
      ]);
      await newMerchant('manual');
      await newMerchant('weekly', { weekday: (isoWeekday() % 7) + 1 });
      await newMerchant('daily', { minimumRupiah: NET_RUPIAH + 1 });
      const held = await newMerchant('daily');
      await changeHold(service.db, held, true);
      const broken = await newMerchant('daily');
      // The sum of its balance is larger than any number that PostgreSQL stores: its preview fails.
      await service.db.query(
        `insert into balance_transactions
           (posting_id, merchant_id, kind, amount_rupiah, payment_id, occurred_at, booked_on)
         select 1e15 + number, $1, 'settlement', 9e18, gen_random_uuid(), now(), current_date
         from generate_series(1, 2) number`,
        [broken],
      );

      const part = startOfRun();
      const stopping = new AbortController();
      let progress = 0;
      const onProgress = () => {
        progress += 1;
        if (progress === 10) stopping.abort();
      };
      const stopped = runPart(part, { stopSignal: stopping.signal, onProgress });
      await expect(stopped).rejects.toThrow('aborted');
      const { size: before } = await countByMerchant();
      expect(before).toBeLessThan(due.length);
      const { requested, failed, next } = await runPart(part);
      expect({ failed, next }).toEqual({ failed: [broken], next: null });
      expect(requested).toBe(due.length - before);
      expect(await countByMerchant()).toEqual(new Map(due.map((merchantId) => [merchantId, 1])));

      await pays(broken, 'manual');
      const [early, late] = [due[0] ?? '', await newMerchant('daily')];
      await payouts.settle(early);
      expect(await run('scheduled-payouts-1')).toBe('1 payouts requested');
      const counts = await countByMerchant();
      expect([counts.get(early), counts.get(late), counts.size]).toEqual([1, 1, due.length + 1]);
      await recordHistory(service.client, 'scheduled-payouts-1', 'scheduled-payouts');
    },
    TIMEOUT_MS,
  );

  it('goes on after half an hour with a page of which more than 50 merchants fail', async () => {
    const ids = Array.from({ length: 51 }, () => randomUUID()).toSorted();
    const list = `unnest(array['${ids.join("','")}']::uuid[]) id`;
    await asSuperuser(
      service.db,
      `insert into merchants (id, name, status) select id, 'Toko', 'approved' from ${list}`,
      `insert into payout_settings (merchant_id, schedule, changed_by, changed_at)
       select id, 'daily', 'cli:test', now() from ${list}`,
      `insert into balance_transactions
         (posting_id, merchant_id, kind, amount_rupiah, payment_id, occurred_at, booked_on)
       select 2e15 + row_number() over (), id, 'settlement', 9e18, gen_random_uuid(), now(), current_date
       from ${list} cross join generate_series(1, 2)`,
    );
    const part = { ...startOfRun(), after: null };
    await expect(runPart(part, { attempt: 29 })).rejects.toThrow('out of range');
    const { failed } = await runPart(part, { attempt: 30 });
    expect(failed.toSorted()).toEqual(ids);
    expect((await runPart({ ...part, merchantIds: ids })).failed.toSorted()).toEqual(ids);
    await asSuperuser(service.db, `delete from payout_settings using ${list} where merchant_id = id`);
  });

  it(
    'requests as many payouts as the largest rail needs, the oldest lines first, at most 200 a day',
    async () => {
      const rtgs = `select 'rtgs', max(version) + 1, 30000, 100000001, '08:00', '14:30', 'working', 14400`;
      const setRtgs = (isEnabled: boolean) =>
        service.db.query(
          `insert into payout_policies (rail, version, fee_rupiah, min_rupiah, opens_at, closes_at, days,
           expected_within_seconds, is_enabled) ${rtgs}, $1 from payout_policies where rail = 'rtgs'`,
          [isEnabled],
        );
      const addHundredMillions = (merchantId: string, count: number, from: number) =>
        service.db.query(
          `insert into balance_transactions
           (posting_id, merchant_id, kind, amount_rupiah, payment_id, occurred_at, booked_on)
         select $3::bigint + number, $1, 'settlement', 100000000, gen_random_uuid(), now(), current_date
         from generate_series(1, $2::integer) number`,
          [merchantId, count, from],
        );
      const [two, many] = [await newMerchant('daily'), await newMerchant('daily')];
      await addHundredMillions(two, 3, 3e15);
      await addHundredMillions(many, PARTS.hundredMillions, 4e15);
      await setRtgs(false);
      const part = { ...startOfRun(), merchantIds: [two, many] };
      await runPart(part);
      await runPart(part);
      await setRtgs(true);
      const { rows } = await service.db.query<{ merchantId: string; gross: number }>(
        `select merchant_id as "merchantId", gross_rupiah as gross from payouts where merchant_id = any($1)
       order by up_to_posting_id`,
        [[two, many]],
      );
      const grossOf = (id: string) => rows.filter(({ merchantId }) => merchantId === id).map(({ gross }) => gross);
      expect(grossOf(two)).toEqual([200_000_000 + NET_RUPIAH, 100_000_000]);
      expect(grossOf(many)).toEqual([200_000_000 + NET_RUPIAH, ...Array(PARTS.requested - 1).fill(200_000_000)]);
    },
    TIMEOUT_MS,
  );

  it('previews again in the same run after a rejection', async () => {
    const merchantId = await newMerchant('daily');
    const { payouts: workflows } = service.workflows;
    let isOnHold = true;
    const heldOnce: PayoutWorkflows = {
      perform: (...given) => workflows.perform(...given),
      findRequest: (payoutId) => workflows.findRequest(payoutId),
      async request(request) {
        await changeHold(service.db, merchantId, isOnHold);
        isOnHold = false;
        const result = await workflows.request(request);
        await changeHold(service.db, merchantId, false);
        return result;
      },
    };
    const { requested } = await runPart({ ...startOfRun(), merchantIds: [merchantId] }, {}, heldOnce);
    expect([requested, (await countByMerchant()).get(merchantId)]).toEqual([1, 1]);
  });

  it('keeps a weekly merchant due who was held up, until there is a payout', async () => {
    const day = (ago: number) => dayInWib(new Date(Date.now() - ago * DAY_MS));
    const weekday = new Date(`${day(2)}T00:00Z`).getUTCDay() || 7;
    const weekly = () => newMerchant('weekly', { weekday });
    const [heldUp, late, small, paid] = [await weekly(), await weekly(), await weekly(), await weekly()];
    const closings = { [heldUp]: 50_000, [late]: 50_000, [small]: 49_999, [paid]: 50_000 };
    await service.db.query('insert into closed_days (day) values ($1) on conflict do nothing', [day(3)]);
    for (const [merchantId, rupiah] of Object.entries(closings))
      await service.db.query(
        `insert into balance_days (merchant_id, day, closing_rupiah, credit_rupiah, debit_rupiah, line_count)
         values ($1, $2, $3, $3, 0, 1)`,
        [merchantId, day(3), rupiah],
      );
    const merchantIds = Object.keys(closings);
    await asSuperuser(
      service.db,
      `update payout_settings set changed_at = now() - interval '9 days'
       where merchant_id in ('${[heldUp, small, paid].join("','")}')`,
    );
    expect(await dueOf(merchantIds, day(0))).toEqual([heldUp, paid].toSorted());
    await pays(paid, 'daily');
    await runPart({ ...startOfRun(), merchantIds: [paid] });
    await payouts.settle(paid);
    await asSuperuser(
      service.db,
      `update payout_settings set schedule = 'weekly', weekday = ${weekday}, changed_at = now() - interval '9 days'
       where merchant_id = '${paid}'`,
    );
    expect(await dueOf(merchantIds, day(0))).toEqual([heldUp]);
    expect(await dueOf(merchantIds, day(2))).toEqual(merchantIds.toSorted());
    await asSuperuser(service.db, `delete from payout_settings where merchant_id in ('${merchantIds.join("','")}')`);
  });

  async function dueOf(merchantIds: readonly string[], day: string): Promise<string[]> {
    const due = await listDueMerchants(service.db, { ...startOfRun(), day, merchantIds });
    return due.map(({ merchantId }) => merchantId).toSorted();
  }

  async function newestRun() {
    const { rows } = await service.db.query(
      "select is_complete, done_count, failed from daily_runs where kind = 'payouts' order by started_at desc limit 1",
    );
    return rows[0];
  }

  it('requests nothing while payouts are stopped, and in recovery mode', async () => {
    await newMerchant('daily');
    const before = await countByMerchant();
    await service.db.query("insert into payout_stops (is_stopped, changed_by, note) values (true, 'cli:test', 'x')");
    expect(await run('scheduled-payouts-2')).toBe('0 payouts requested');
    expect(await newestRun()).toEqual({ is_complete: true, done_count: 0, failed: [] });
    await service.db.query(
      `insert into payout_stops (is_stopped, ended_stop_id, changed_by, note)
       select false, max(id), 'cli:test', 'x' from payout_stops`,
    );
    await beginRecovery(service.db, { by: 'cli:test', reason: 'x' });
    expect(await run('scheduled-payouts-3')).toBe('0 payouts requested');
    await endRecovery(service.db, (await readRecoveryMode(service.db)).timeline);
    expect(await countByMerchant()).toEqual(before);
  });

  it('an operator repeats a run whose schedule is paused', async () => {
    const schedule = service.client.schedule.getHandle('payouts');
    await schedule.pause();
    const workflowId = await service.workflows.runs.repeat('payouts');
    // The merchant whom the run before kept waiting.
    expect(await service.client.workflow.getHandle(workflowId).result()).toBe('1 payouts requested');
    expect(await newestRun()).toEqual({ is_complete: true, done_count: 1, failed: [] });
    await schedule.unpause();
  });

  it('the daily run is scheduled at 07:00 WIB, for the workers of payouts', async () => {
    const { spec, action } = await service.client.schedule.getHandle('payouts').describe();
    expect(spec.calendars).toMatchObject([{ hour: [{ start: 0, end: 0 }], minute: [{ start: 0, end: 0 }] }]);
    expect(action).toMatchObject({ workflowType: 'requestScheduledPayouts', taskQueue: PAYOUTS_TASK_QUEUE });
  });
});
