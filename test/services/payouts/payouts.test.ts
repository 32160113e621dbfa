import { randomUUID } from 'node:crypto';
import { createPool, type Pool } from '../../../src/db/connection/pool';
import { listRecordedCases } from '../../../src/db/operations/list-attention';
import { readRestingPayouts } from '../../../src/db/payouts/payouts-for-reconciliation';
import { listPayoutsNeedingAttention } from '../../../src/db/payouts/payouts-needing-attention';
import type { PayableRun } from '../../../src/domain/payout-preview';
import type { PayoutRejection } from '../../../src/domain/payout-rejections';
import { listAllPayouts } from '../../../src/services/payouts/list-all-payouts';
import {
  getPayout,
  listPayoutLines,
  listPayouts,
  previewPayout,
  type PayoutUser,
} from '../../../src/services/payouts/payouts';
import { describeRejection } from '../../../src/web/dashboard/payouts/rejection-texts';
import { approveByMember, cancelByMember, requestByMember } from '../../support/payout-acts';
import {
  addLines,
  applyPayout,
  createTestPayouts,
  FEE_RUPIAH,
  withNewMerchant,
  writersAsWorkflows,
  type TestPayouts,
} from '../../support/payouts';
import { createMember } from '../../support/people';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

let payouts: TestPayouts;
let dashboard: Pool;
let user: PayoutUser;

beforeAll(async () => {
  payouts = await createTestPayouts();
  dashboard = createPool(payouts.database.urlOf('lunas_local_dashboard'), { max: 20 });
});
beforeEach(async () => {
  payouts = await withNewMerchant(payouts);
  user = { merchantId: payouts.merchantId, userId: await addMember('owner') };
});
afterAll(async () => {
  await dashboard.end();
  await payouts.close();
});

const addMember = (role: 'owner' | 'finance') =>
  createMember(payouts.db, `${randomUUID()}@shop.test`, [[payouts.merchantId, role]]);

const dependencies = () => ({ db: dashboard, workflows: { payouts: writersAsWorkflows(payouts) } });

const see = () => previewPayout(dashboard, payouts.merchantId, new Date());

async function seePossible() {
  const preview = await see();
  if (preview.outcome === 'rejected') throw new Error(`rejected: ${preview.rejection.code}`);
  return preview;
}

async function request(formToken: string = randomUUID(), seen?: PayableRun) {
  const { afterPostingId, upToPostingId, grossRupiah } = seen ?? (await seePossible());
  return requestByMember(dependencies(), user, { formToken, afterPostingId, upToPostingId, grossRupiah });
}

async function requested() {
  const result = await request();
  if (result.outcome === 'rejected') throw new Error(`rejected: ${result.rejection.code}`);
  return result.payout;
}

it('the preview is what the request pays, and the lines are what it has paid', async () => {
  await addLines(payouts, [100_000, 200_000]);
  expect(await seePossible()).toMatchObject({
    balanceRupiah: 300_000,
    grossRupiah: 300_000,
    account: { bankCode: '014', lastFour: '7890' },
    rail: { amountRupiah: 297_500, policy: { rail: 'bi_fast', feeRupiah: 2_500 } },
    lines: [{ kind: 'settlement', count: 2, rupiah: 300_000 }],
  });
  const payout = await requested();
  expect(payout).toMatchObject({
    referenceId: expect.stringMatching(/^LP00[0-9A-HJKMNP-TV-Z]{16}$/),
    grossRupiah: 300_000,
    amountRupiah: 297_500,
    lineCount: 2,
    status: 'requested',
    requesterName: 'Sri Rahayu',
  });
  const lines = await listPayoutLines(dashboard, user.merchantId, payout.referenceId, { after: 0, limit: 9 });
  expect(lines.map(({ amountRupiah }) => amountRupiah)).toEqual([100_000, 200_000]);
  expect(lines[0]?.referenceId).toMatch(/^LN/);
  expect(await see()).toEqual({ outcome: 'rejected', rejection: { code: 'nothing_to_pay' } });
});

it('a form that is sent again and again requests one payout, and a later one pays only what is new', async () => {
  await addLines(payouts, [100_000]);
  const [seen, token] = [await seePossible(), randomUUID()];
  const results = await Promise.all(Array.from({ length: 5 }, () => request(token, seen)));
  const ids = results.map((result) => result.outcome === 'requested' && result.payout.id);
  expect(new Set(ids).size).toBe(1);
  expect(ids[0]).not.toBe(false);
  await addLines(payouts, [50_000]);
  const again = { outcome: 'rejected', rejection: { code: 'balance_changed' } };
  expect(await request(randomUUID(), seen)).toEqual(again);
  expect(await requested()).toMatchObject({ grossRupiah: 50_000 });
});

it('pays what the member has seen, also if the balance has grown, and not if it has shrunk', async () => {
  await addLines(payouts, [100_000, 200_000]);
  const seen = await seePossible();
  await addLines(payouts, [50_000]);
  expect(await request(randomUUID(), { ...seen, grossRupiah: 299_999 })).toMatchObject({ outcome: 'rejected' });
  expect(await request(randomUUID(), seen)).toMatchObject({ payout: { grossRupiah: 300_000 } });
  expect(await seePossible()).toMatchObject({ grossRupiah: 50_000 });
});

describe('a rejection', () => {
  const set = (assignment: string, table: 'merchants' | 'bank_accounts') =>
    payouts.db.query(`update ${table} set ${assignment} where ${table === 'merchants' ? 'id' : 'merchant_id'} = $1`, [
      payouts.merchantId,
    ]);

  it.each([
    ['merchant_not_approved', "status = 'suspended'", 'merchants'],
    ['merchant_on_hold', 'held_at = now()', 'merchants'],
    ['no_bank_account', "status = 'disabled'", 'bank_accounts'],
    ['bank_account_suspended', "status = 'suspended'", 'bank_accounts'],
    ['cooling_down', "usable_from = '2999-01-01T00:00:00Z'", 'bank_accounts'],
  ] as const)('%s is the same in the preview and in the request', async (code, assignment, table) => {
    await addLines(payouts, [100_000]);
    const seen = await seePossible();
    await set(assignment, table);
    const rejection = code === 'cooling_down' ? { code, usableFrom: new Date('2999-01-01T00:00:00Z') } : { code };
    expect(await see()).toEqual({ outcome: 'rejected', rejection });
    expect(await request(randomUUID(), seen)).toEqual({ outcome: 'rejected', rejection });
  });

  it('the rejection of a balance below the minimum names both', async () => {
    await addLines(payouts, [12_499]);
    const rejection = { code: 'below_minimum', balanceRupiah: 12_499, minimumRupiah: 12_500 };
    expect(await see()).toEqual({ outcome: 'rejected', rejection });
    await addLines(payouts, [1]);
    expect(await seePossible()).toMatchObject({ grossRupiah: 12_500, rail: { amountRupiah: 10_000 } });
  });

  it.each([
    [{ code: 'below_minimum', balanceRupiah: 12_499, minimumRupiah: 12_500 }, 'Rp 12.499', 'Rp 12.500'],
    [{ code: 'negative_balance', balanceRupiah: -2_000 }, '−Rp 2.000', ''],
    [{ code: 'cooling_down', usableFrom: new Date(0) }, '1970', ''],
    [{ code: 'proposal_open' }, '', ''],
    [{ code: 'balance_changed' }, '', ''],
  ] satisfies [PayoutRejection, string, string][])('%p has its text in both languages', (rejection, one, other) => {
    const texts = (['id', 'en'] as const).map((language) =>
      describeRejection(rejection, language, (at) => at.toISOString()),
    );
    for (const text of texts) {
      expect(text).toContain(one);
      expect(text).toContain(other);
      expect(text).toMatch(/\.$/);
    }
    expect(new Set(texts).size).toBe(2);
  });
});

it('another member approves, and a member cancels until it is submitted', async () => {
  await addLines(payouts, [100_000]);
  const other = { merchantId: user.merchantId, userId: await addMember('finance') };
  const { id: payout, version } = await requested();
  expect(await approveByMember(dependencies(), other, { payout, version })).toMatchObject({
    status: 'approved',
    approvedBy: `user:${other.userId}`,
    approverName: 'Sri Rahayu',
  });
  await expect(cancelByMember(dependencies(), user, { payout, version })).rejects.toMatchObject({
    reason: 'superseded',
  });
  expect(await cancelByMember(dependencies(), user, { payout, version: 2 })).toMatchObject({ status: 'cancelled' });
  expect((await getPayout(dashboard, user.merchantId, payout)).steps.map(({ name }) => name)).toEqual([
    'request',
    'approve',
    'cancel',
  ]);
  expect(await seePossible()).toMatchObject({
    grossRupiah: 100_000,
    lines: [{ kind: 'payout_cancelled', count: 1, rupiah: 100_000 }],
  });
});

it('a merchant sees its own payouts only, page by page, the newest first', async () => {
  const { merchantId } = user;
  const ids: string[] = [];
  for (const amount of [20_000, 30_000, 40_000]) {
    await addLines(payouts, [amount]);
    ids.unshift((await requested()).id);
  }
  const list = { merchantId, status: null, from: null, to: null, after: null, limit: 2 } as const;
  const page = await listPayouts(dashboard, list);
  const last = page.at(-1) ?? null;
  const next = await listPayouts(dashboard, { ...list, after: last });
  expect([...page, ...next].map(({ id }) => id)).toEqual(ids);
  expect(await listPayouts(dashboard, { ...list, status: 'approved' })).toEqual([]);
  expect(await listPayouts(dashboard, { ...list, to: new Date(Date.now() - 3_600_000) })).toEqual([]);
  const stranger = { userId: randomUUID(), merchantId: randomUUID() };
  expect(await listPayouts(dashboard, { ...list, merchantId: stranger.merchantId })).toEqual([]);
  const [payout = ''] = ids;
  await expect(getPayout(dashboard, stranger.merchantId, payout)).rejects.toThrow('There is no payout');
  await expect(cancelByMember(dependencies(), stranger, { payout, version: 1 })).rejects.toThrow('There is no payout');
});

describe('a payout that an operator should look at', () => {
  const backdate = (payoutId: string, assignment: string) =>
    payouts.db.query(`update payouts set ${assignment} where id = $1`, [payoutId]);
  const casesOf = async () => {
    const cases = await listRecordedCases(payouts.db, 100);
    return cases
      .filter(({ merchantId }) => merchantId === payouts.merchantId)
      .map(({ kind }) => kind)
      .toSorted();
  };
  beforeEach(() => addLines(payouts, [100_000]));

  it('waits for the approval of an operator, and not for that of a member', async () => {
    await addMember('finance');
    await requested();
    expect(await casesOf()).toEqual([]);
    await addLines(payouts, [50_000]);
    const { referenceId } = await applyPayout(payouts, [], { by: { name: 'cli:sari' } });
    expect(await listRecordedCases(payouts.db, 100)).toContainEqual({
      kind: 'payout_waiting_for_approval',
      subject: referenceId,
      merchantId: payouts.merchantId,
      since: expect.any(Date),
      detail: 'Rp 47.500',
      cause: null,
      about: null,
    });
  });

  /** The reason of the payout at a time. */
  async function reasonOf(payoutId: string, at: Date) {
    const listed = await listPayoutsNeedingAttention(payouts.db, at, 1_000);
    return listed.find((payout) => payout.payoutId === payoutId)?.reason;
  }

  it('a payout that is not sent for ten minutes, with nothing that keeps it back, needs an operator', async () => {
    const { payoutId } = await applyPayout(payouts, ['approve'], { by: { name: 'schedule' } });
    await backdate(payoutId, "updated_at = now() - interval '9 minutes'");
    expect(await reasonOf(payoutId, new Date())).toBeUndefined();
    await backdate(payoutId, "updated_at = now() - interval '11 minutes'");
    expect(await reasonOf(payoutId, new Date())).toBe('not_sent');
    expect(await casesOf()).toEqual(['payout_not_sent']);
    await payouts.db.query('update merchants set held_at = now() where id = $1', [payouts.merchantId]);
    expect(await reasonOf(payoutId, new Date())).toBeUndefined();
  });

  it('a payout that is not sent ten minutes after its rail opened needs an operator', async () => {
    const { rows } = await payouts.db.query<{ id: number }>(
      `insert into payout_policies (rail, version, fee_rupiah, min_rupiah, opens_at, closes_at, days,
         expected_within_seconds, is_enabled)
       values ('skn', 2, ${FEE_RUPIAH}, 10000, '08:00', '14:30', 'working', 60, true) returning id`,
    );
    const rail = { rail: 'skn', payoutPolicyId: rows[0]?.id ?? 0 } as const;
    const { payoutId } = await applyPayout(payouts, ['approve'], { by: { name: 'schedule' }, ...rail });
    const holiday = '2999-01-09';
    await payouts.db.query('insert into bank_holidays (day) values ($1)', [holiday]);
    const days = Array.from({ length: 7 }, (_, index) => `2999-01-${String(7 + index).padStart(2, '0')}`);
    for (const day of days) {
      const isWorkingDay = day !== holiday && ![0, 6].includes(new Date(day).getUTCDay());
      for (const [time, isOpen] of [
        ['00:30', false],
        ['08:09', false],
        ['08:10', true],
        ['14:29', true],
        ['14:30', false],
      ] as const) {
        const reason = await reasonOf(payoutId, new Date(`${day}T${time}:00+07:00`));
        expect([day, time, reason]).toEqual([day, time, isWorkingDay && isOpen ? 'not_sent' : undefined]);
      }
    }
  });

  it('a payout that is deferred for more than an hour by what an operator ends needs an operator', async () => {
    const { payoutId } = await applyPayout(payouts, ['approve'], { by: { name: 'schedule' } });
    await backdate(payoutId, "updated_at = now() - interval '61 minutes'");
    expect(await casesOf()).toEqual(['payout_not_sent']);
    await payouts.db.query('update merchants set held_at = now() where id = $1', [payouts.merchantId]);
    expect(await casesOf()).toEqual(['merchant_on_hold', 'payout_deferred']);
    await backdate(payoutId, "updated_at = now() - interval '59 minutes'");
    expect(await casesOf()).toEqual(['merchant_on_hold']);
  });

  it.each([
    ['payout_overdue', 'accepted', '61 seconds'],
    ['payout_indeterminate', 'indeterminate', '601 seconds'],
    ['payout_not_found', 'rejected', '86401 seconds'],
    [undefined, 'accepted', '59 seconds'],
    [undefined, 'indeterminate', '590 seconds'],
  ])('a payout is %s: the last call was %s, %s ago', async (kind, outcome, age) => {
    const { payoutId } = await applyPayout(payouts, ['approve', 'submit'], { by: { name: 'schedule' } });
    await backdate(payoutId, `send_outcome = '${outcome}', last_sent_at = now() - interval '${age}'`);
    expect(await casesOf()).toEqual(kind === undefined ? [] : [kind]);
    const listed = await listAllPayouts(payouts.db, {
      merchantId: payouts.merchantId,
      status: null,
      needsAttention: true,
      limit: 9,
    });
    expect(listed.map(({ attentionReason }) => `payout_${attentionReason}`)).toEqual(kind === undefined ? [] : [kind]);
  });
});

const ENDS = [
  ['completed', ['complete']],
  ['returned', ['complete', 'return']],
] as const;

it.each(ENDS)('the runs of reconciliation read a %s payout daily for a week, whenever they start', async (_, end) => {
  await addLines(payouts, [100_000]);
  const { payoutId } = await applyPayout(payouts, ['approve', 'submit', ...end], { by: { name: 'schedule' } });
  const endedAtMs = Date.now() - 30 * DAY_MS;
  await payouts.db.query('update payouts set updated_at = $2 where id = $1', [payoutId, new Date(endedAtMs)]);
  const readOnDays: number[] = [];
  // The first run after one day starts at the same millisecond of it. The others drift, and some take hours.
  for (let [lastStartMs, run] = [endedAtMs + DAY_MS, 0]; lastStartMs < endedAtMs + 9 * DAY_MS; run += 1) {
    const startedAtMs = lastStartMs + (run % 5 === 4 ? 200 : 61) * MINUTE_MS;
    const times = { changedSinceMs: startedAtMs - 3 * HOUR_MS, lastStartMs, startedAtMs };
    const { items } = await readRestingPayouts(payouts.db, times, null);
    if (items.some((item) => item.payoutId === payoutId))
      readOnDays.push(Math.floor((lastStartMs - endedAtMs) / DAY_MS));
    lastStartMs = startedAtMs;
  }
  expect(readOnDays).toEqual([1, 1, 2, 3, 4, 5, 6]);
});
