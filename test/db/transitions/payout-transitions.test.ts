import { randomUUID } from 'node:crypto';
import { createPool } from '../../../src/db/connection/pool';
import { onlyRow } from '../../../src/db/connection/require-row';
import { inTransaction } from '../../../src/db/connection/transaction';
import { claimReleasedPayouts } from '../../../src/db/payouts/find-payout';
import { changeBankAccount } from '../../../src/db/transitions/bank-account-transitions';
import { recordPayoutSend } from '../../../src/db/transitions/payout-sends';
import { payoutWriters, type NewPayout } from '../../../src/db/transitions/payout-transitions';
import type { StepActor } from '../../../src/domain/actor';
import type { MemberRole } from '../../../src/domain/member-roles';
import {
  PAYOUT_TRANSITIONS,
  type PayoutStatus,
  type PayoutTransitionName,
} from '../../../src/domain/payout-transitions';
import { withClient } from '../../../src/local-stack/postgres';
import { asSuperuser } from '../../support/backdate';
import { prepareBankAccount } from '../../support/bank-accounts';
import {
  addLines,
  applyPayout,
  applyPayoutTransition,
  createTestPayouts,
  FEE_RUPIAH,
  newPayout,
  requestTime,
  withNewMerchant,
  type TestPayouts,
} from '../../support/payouts';
import { ageMembers, createMember } from '../../support/people';
import { setEnvironment } from '../../support/production';
import { bySize } from '../../support/size';

let payouts: TestPayouts;

beforeAll(async () => {
  payouts = await createTestPayouts();
});
beforeEach(async () => {
  payouts = await withNewMerchant(payouts);
});
afterAll(() => payouts.close());

type StepName = Exclude<PayoutTransitionName, 'request'>;

/** The shortest way to each status. */
const PATHS = {
  requested: [],
  approved: ['approve'],
  cancelled: ['cancel_request'],
  submitted: ['approve', 'submit'],
  completed: ['approve', 'submit', 'complete'],
  failed: ['approve', 'submit', 'fail'],
  returned: ['approve', 'submit', 'complete', 'return'],
} as const satisfies Record<PayoutStatus, readonly StepName[]>;

const STEPS: readonly StepName[] = Object.keys(PAYOUT_TRANSITIONS).filter(
  (name): name is StepName => name in PAYOUT_TRANSITIONS && name !== 'request',
);

/** The balances of the accounts that a payout posts to, above zero in credit. */
async function balances(): Promise<Record<string, number>> {
  const { rows } = await payouts.db.query<{ account: string; rupiah: number }>(
    `select account, sum(case side when 'credit' then amount_rupiah else -amount_rupiah end)::bigint as rupiah
     from ledger_entries join ledger_postings posting on posting.id = posting_id
     where merchant_id = $1 and account in ('merchant_available', 'payout_in_transit', 'cash', 'fee_revenue')
     group by account having sum(case side when 'credit' then amount_rupiah else -amount_rupiah end) <> 0`,
    [payouts.merchantId],
  );
  return Object.fromEntries(rows.map(({ account, rupiah }) => [account, rupiah]));
}

async function lines() {
  const { rows } = await payouts.db.query<{ kind: string; amount: number; isClaimed: boolean }>(
    `select kind, amount_rupiah as amount, payout_id is not null as "isClaimed" from balance_transactions
     where merchant_id = $1 order by posting_id`,
    [payouts.merchantId],
  );
  return rows;
}

const AVAILABLE = 300_000;
const AMOUNT = AVAILABLE - FEE_RUPIAH;
const RESERVED = { payout_in_transit: AMOUNT, fee_revenue: FEE_RUPIAH };

describe('every transition', () => {
  beforeEach(() => addLines(payouts, [100_000, 200_000]));

  it.each(STEPS)('%s is written with its history, and nothing from another status', async (name) => {
    const { from, to } = PAYOUT_TRANSITIONS[name];
    const { payoutId } = await applyPayout(payouts, PATHS[from]);
    const version = PATHS[from].length + 1;
    for (const other of STEPS.filter((step) => PAYOUT_TRANSITIONS[step].from !== from)) {
      const { outcome } = await applyPayoutTransition(payouts, other, { payoutId, version });
      expect([other, outcome]).toEqual([other, 'superseded']);
    }
    const applied = await applyPayoutTransition(payouts, name, { payoutId, version });
    expect(applied).toMatchObject({ outcome: 'applied', state: { status: to, version: version + 1 } });
    const repeated = await applyPayoutTransition(payouts, name, { payoutId, version });
    expect(repeated).toEqual({ ...applied, outcome: 'repeated' });
    const { rows } = await payouts.db.query(
      'select name, from_status, to_status from payout_transitions where payout_id = $1 and version = $2',
      [payoutId, version + 1],
    );
    expect(rows).toEqual([{ name, from_status: from, to_status: to }]);
    const { rows: events } = await payouts.db.query<{ event: string; body: string }>(
      'select event, body from payout_events where payout_id = $1 and payout_version = $2',
      [payoutId, version + 1],
    );
    const body = {
      id: payoutId,
      event: `payout.${to}`,
      status: to,
      gross_amount: AVAILABLE,
      fee_amount: FEE_RUPIAH,
      amount: AMOUNT,
      currency: 'IDR',
      rail: 'bi_fast',
      bank_code: '014',
      account_last_four: '7890',
    };
    const written = events.map(({ event, body: text }) => ({ event, body: JSON.parse(text) as unknown }));
    const expected = { event: `payout.${to}`, body: expect.objectContaining(body) };
    expect(written).toEqual(from === to ? [] : [expected]);
  });

  const ways = STEPS.map((name) => {
    const { from, to } = PAYOUT_TRANSITIONS[name];
    return { name, to, path: [...PATHS[from], name] };
  });

  it.each([{ name: 'request', to: 'requested', path: PATHS.requested } as const, ...ways])(
    '$name leaves the money of the payout in one account',
    async ({ to, path }) => {
      await applyPayout(payouts, path);
      const expected = {
        requested: RESERVED,
        approved: RESERVED,
        submitted: RESERVED,
        completed: { cash: AMOUNT, fee_revenue: FEE_RUPIAH },
        cancelled: { merchant_available: AVAILABLE },
        failed: { merchant_available: AVAILABLE },
        returned: { merchant_available: AMOUNT, fee_revenue: FEE_RUPIAH },
      } as const satisfies Record<PayoutStatus, Record<string, number>>;
      expect(await balances()).toEqual(expected[to]);
      const unclaimed = (await lines()).filter(({ isClaimed }) => !isClaimed);
      const balance: Record<string, number> = expected[to];
      expect(unclaimed.reduce((sum, { amount }) => sum + amount, 0)).toBe(balance.merchant_available ?? 0);
    },
  );
});

it('a request claims the lines of the balance, and its own line is their sum', async () => {
  await addLines(payouts, [100_000, 200_000]);
  const { payoutId } = await applyPayout(payouts, []);
  await addLines(payouts, [50_000]);
  expect(await lines()).toEqual([
    { kind: 'settlement', amount: 100_000, isClaimed: true },
    { kind: 'settlement', amount: 200_000, isClaimed: true },
    { kind: 'payout', amount: -300_000, isClaimed: true },
    { kind: 'settlement', amount: 50_000, isClaimed: false },
  ]);
  const { rows } = await payouts.db.query('select line_count, approval_kind, status from payouts where id = $1', [
    payoutId,
  ]);
  expect(rows).toEqual([{ line_count: 2, approval_kind: 'none', status: 'requested' }]);
});

it('money that came back is in the next payout, and a payout executed after its failure makes a debt', async () => {
  await addLines(payouts, [100_000]);
  const { payoutId } = await applyPayout(payouts, PATHS.failed);
  const second = await applyPayout(payouts, PATHS.completed);
  expect(second).toMatchObject({ grossRupiah: 100_000 });
  const { state } = await applyPayoutTransition(payouts, 'complete_failed', { payoutId, version: 4 });
  expect(state).toMatchObject({ status: 'completed', version: 5 });
  expect(await balances()).toEqual({ merchant_available: -100_000, cash: 195_000, fee_revenue: 5_000 });
  expect((await lines()).map(({ kind, amount }) => [kind, amount])).toEqual([
    ['settlement', 100_000],
    ['payout', -100_000],
    ['payout_failed', 100_000],
    ['payout', -100_000],
    ['payout_conflict', -100_000],
  ]);
  await addLines(payouts, [150_000]);
  const third = await applyPayout(payouts, []);
  expect(third).toMatchObject({ grossRupiah: 50_000 });
});

const PROPOSE = `insert into bank_accounts
  (id, merchant_id, bank_code, number_hmac, last_four, status, version, proposed_by, created_at, updated_at)
  values (gen_random_uuid(), :merchant, '008', 'x', '1111', 'pending_inquiry', 1, 'x', now(), now())`;

/** What keeps payouts back, and its end. */
const CAUSES = [
  ['a merchant on hold', 'update merchants set held_at = now() where id = :merchant', ''],
  ['a merchant that is suspended', "update merchants set status = 'suspended' where id = :merchant", ''],
  ['a suspended bank account', "update bank_accounts set status = 'suspended' where merchant_id = :merchant", ''],
  ['a disabled bank account', "update bank_accounts set status = 'disabled' where merchant_id = :merchant", ''],
  [
    'the cool-down',
    "update bank_accounts set usable_from = now() + interval '1 day' where merchant_id = :merchant",
    '',
  ],
  ['an open proposal', PROPOSE, ''],
  [
    'a stop of all payouts',
    "insert into payout_stops (is_stopped, changed_by, note) values (true, 'x', 'y')",
    `insert into payout_stops (is_stopped, ended_stop_id, changed_by, note)
     select false, max(id), 'x', 'y' from payout_stops`,
  ],
  [
    'recovery mode',
    "update recovery_mode set begun_at = now(), begun_by = 'x', reason = 'y'",
    'update recovery_mode set ended_at = begun_at',
  ],
  [
    'an end of our account',
    "update provider_accounts set status = 'disabled' where purpose = 'payouts'",
    "update provider_accounts set status = 'enabled' where purpose = 'payouts'",
  ],
] as const;

it('a call to the bank records its outcome, and a permission for another call forgets it', async () => {
  await addLines(payouts, [100_000]);
  const { payoutId } = await applyPayout(payouts, PATHS.submitted);
  const read = async () => {
    const columns = 'send_count, send_outcome, bank_reference, failure_kind, failure_reason';
    return (await payouts.db.query(`select ${columns} from payouts where id = $1`, [payoutId])).rows[0];
  };
  const rejected = { payoutId, outcome: 'rejected', bankReference: 'B1', failureKind: 'limit', reason: 'no' } as const;
  await recordPayoutSend(payouts.context.db, { ...rejected, sendCount: 1 });
  const recorded = { send_outcome: 'rejected', bank_reference: 'B1', failure_kind: 'limit', failure_reason: 'no' };
  expect(await read()).toEqual({ ...recorded, send_count: 1 });
  await applyPayoutTransition(payouts, 'resend', { payoutId, version: 3 });
  const forgotten = { send_outcome: null, bank_reference: 'B1', failure_kind: null, failure_reason: null };
  expect(await read()).toEqual({ ...forgotten, send_count: 2 });
  await recordPayoutSend(payouts.context.db, { ...rejected, sendCount: 1 });
  expect(await read()).toEqual({ ...forgotten, send_count: 2 });
});

it('a permission that is recorded late counts from then', async () => {
  await addLines(payouts, [100_000]);
  const { payoutId, bankAccountId } = await applyPayout(payouts, PATHS.approved);
  await asSuperuser(
    payouts.db,
    `update bank_accounts set usable_from = usable_from - interval '2 days' where id = '${bankAccountId}'`,
  );
  const [nowMs, at] = [Date.now() - 1_000, new Date(Date.now() - 90_000_000)];
  const submit = { payoutId, version: 2, at, makesCall: true };
  const submitted = await payoutWriters.submit(payouts.context, submit);
  expect(submitted).toMatchObject({ outcome: 'applied' });
  expect(submitted.state.lastSentAtMs).toBeGreaterThan(nowMs);
  const by = { name: 'cli:sari' } as const;
  const resent = await payoutWriters.resend(payouts.context, { payoutId, version: 3, at, by });
  expect(resent).toMatchObject({ outcome: 'applied' });
  expect(resent.state.lastSentAtMs).toBeGreaterThan(nowMs);
});

/** PostgreSQL may have lost that it was sent. */
it.each([
  ['during recovery', "update recovery_mode set begun_at = now(), begun_by = 'x', reason = 'y'"],
  ['after a recovery', "update recovery_mode set begun_at = now(), begun_by = 'x', reason = 'y', ended_at = now()"],
])('%s an earlier payout is not cancelled, and its submission permits no call', async (_name, recover) => {
  await addLines(payouts, [100_000]);
  const { payoutId } = await applyPayout(payouts, PATHS.approved);
  await addLines(payouts, [200_000]);
  const other = await applyPayout(payouts, PATHS.requested);
  await payouts.db.query(recover);
  const submit = { payoutId, version: 2, at: new Date(), makesCall: true };
  const outcomes = [
    await applyPayoutTransition(payouts, 'cancel', { payoutId, version: 2 }),
    await applyPayoutTransition(payouts, 'cancel_request', { payoutId: other.payoutId, version: 1 }),
    await payoutWriters.submit(payouts.context, submit),
    await payoutWriters.submit(payouts.context, { ...submit, makesCall: false }),
  ];
  await payouts.db.query('update recovery_mode set ended_at = greatest(begun_at, ended_at)');
  expect(outcomes.map(({ outcome }) => outcome)).toEqual(['deferred', 'deferred', 'deferred', 'applied']);
  await addLines(payouts, [300_000]);
  await applyPayout(payouts, ['approve', 'cancel']);
  await applyPayout(payouts, PATHS.submitted);
});

it('owners have a notice of what failed, came back or waits', async () => {
  const noticesOf = async ({ payoutId }: NewPayout) => {
    const { rows } = await payouts.db.query('select kind from merchant_notices where target_id = $1', [payoutId]);
    return rows;
  };
  await addLines(payouts, [100_000]);
  expect(await noticesOf(await applyPayout(payouts, PATHS.failed))).toEqual([{ kind: 'payout.failed' }]);
  expect(await noticesOf(await applyPayout(payouts, PATHS.returned))).toEqual([{ kind: 'payout.returned' }]);
  await createMember(payouts.db, `${randomUUID()}@shop.test`, [[payouts.merchantId, 'finance']]);
  expect(await noticesOf(await applyPayout(payouts, []))).toEqual([{ kind: 'payout.waiting_for_approval' }]);
});

it('a transition closes the notifications that it reflects, and no other', async () => {
  await addLines(payouts, [100_000]);
  const { payoutId, providerAccountId, referenceId } = await applyPayout(payouts, PATHS.submitted);
  await payouts.db.query(
    `insert into provider_notifications (provider_account_id, reference_id, body_sha256, body, reported_status)
     select $1, $2, sha256(status::bytea), status, status
     from unnest(array['pending', 'completed', 'failed', 'returned']) as status`,
    [providerAccountId, referenceId],
  );
  await applyPayoutTransition(payouts, 'complete', { payoutId, version: 3 });
  const { rows } = await payouts.db.query(
    'select reported_status from provider_notifications where reference_id = $1 and closed_at is null order by id',
    [referenceId],
  );
  expect(rows).toEqual([{ reported_status: 'failed' }, { reported_status: 'returned' }]);
});

describe('a request', () => {
  const request = async (changes: Partial<NewPayout> = {}) =>
    payoutWriters.request(payouts.context, await newPayout(payouts, changes));

  beforeEach(() => addLines(payouts, [100_000, 200_000]));

  it('a payout request with the same id returns the payout that exists', async () => {
    const payout = await newPayout(payouts);
    expect(await payoutWriters.request(payouts.context, payout)).toMatchObject({ outcome: 'applied' });
    expect(await payoutWriters.request(payouts.context, payout)).toMatchObject({
      outcome: 'repeated',
      state: { status: 'requested', version: 1 },
    });
  });

  it.each([
    ['another sum', { grossRupiah: 299_999, amountRupiah: 297_499 }],
    ['no line', { upToPostingId: 1 }],
    ['another fee', { feeRupiah: 0, amountRupiah: 300_000 }],
    ['a rail that is off', { rail: 'skn', payoutPolicyId: 3, feeRupiah: 2_900, amountRupiah: 297_100 }],
    ['a rail that needs more', { rail: 'rtgs', payoutPolicyId: 4, feeRupiah: 30_000, amountRupiah: 270_000 }],
    ['an unknown bank account', { bankAccountId: randomUUID() }],
    ['another account that pays', { providerAccountId: randomUUID() }],
  ] as const)('a payout request of %s writes nothing', async (_name, changes) => {
    expect(await request(changes)).toBeUndefined();
    expect((await lines()).every(({ isClaimed }) => !isClaimed)).toBe(true);
  });

  it.each(CAUSES)('no request and no permission for a call is written during %s', async (name, cause, end) => {
    const sent = await applyPayout(payouts, PATHS.submitted);
    await addLines(payouts, [60_000]);
    const approved = await applyPayout(payouts, ['approve']);
    await addLines(payouts, [70_000]);
    await payouts.db.query(cause.replaceAll(':merchant', `'${payouts.merchantId}'`));
    const requested = await request();
    const submitted = await applyPayoutTransition(payouts, 'submit', { payoutId: approved.payoutId, version: 2 });
    const resent = await applyPayoutTransition(payouts, 'resend', { payoutId: sent.payoutId, version: 3 });
    const isReleased = async () => {
      const released = await claimReleasedPayouts(payouts.db, requestTime());
      return released.some(({ payoutId }) => payoutId === approved.payoutId);
    };
    const isReleasedMeanwhile = await isReleased();
    await payouts.db.query(end);
    // The workflow of a payout whose account has ended is woken too, once: it cancels the payout.
    const isOver = name === 'a disabled bank account';
    expect([isReleasedMeanwhile, await isReleased()]).toEqual([isOver, end !== '']);
    expect(requested).toBeUndefined();
    expect(submitted).toEqual({ outcome: 'deferred', state: { status: 'approved', version: 2 } });
    expect(resent).toMatchObject({ outcome: 'deferred', state: { status: 'submitted', version: 3 } });
  });

  it('an approved one is woken once in ten minutes, and anew after it was deferred', async () => {
    const { payoutId } = await applyPayout(payouts, ['approve']);
    const worker = createPool(payouts.database.urlOf('lunas_local_worker'), { max: 1 });
    const isClaimed = async (afterMinutes: number): Promise<boolean> => {
      const at = new Date(requestTime().getTime() + afterMinutes * 60_000);
      return (await claimReleasedPayouts(worker, at)).some((claimed) => claimed.payoutId === payoutId);
    };
    try {
      expect([await isClaimed(0), await isClaimed(9), await isClaimed(10), await isClaimed(19)]).toEqual([
        true,
        false,
        true,
        false,
      ]);
      await payouts.db.query('update merchants set held_at = now() where id = $1', [payouts.merchantId]);
      expect(await isClaimed(19)).toBe(false);
      await payouts.db.query('update merchants set held_at = null where id = $1', [payouts.merchantId]);
      expect([await isClaimed(19), await isClaimed(19)]).toEqual([true, false]);
    } finally {
      await worker.end();
    }
  });

  it('a payout request is not written for a negative balance, nor for more than the balance', async () => {
    const { payoutId } = await applyPayout(payouts, PATHS.failed);
    await applyPayout(payouts, []);
    await applyPayoutTransition(payouts, 'complete_failed', { payoutId, version: 4 });
    await addLines(payouts, [100_000]);
    expect(await newPayout(payouts)).toMatchObject({ grossRupiah: -200_000 });
    expect(await request()).toBeUndefined();
    const { rows } = await payouts.db.query<{ id: number }>(
      'select max(posting_id) as id from balance_transactions where merchant_id = $1',
      [payouts.merchantId],
    );
    await addLines(payouts, [250_000]);
    expect(await newPayout(payouts)).toMatchObject({ grossRupiah: 50_000 });
    const shorter = { upToPostingId: rows[0]?.id ?? 0, grossRupiah: 100_000, amountRupiah: 97_500 };
    expect(await request(shorter)).toBeUndefined();
  });
});

describe('attack: the database rejects', () => {
  beforeEach(() => addLines(payouts, [100_000, 200_000]));

  /** Sends the statement of a request with another text, as the owner. */
  async function requestBy(from: string, to: string, changes: Partial<NewPayout> = {}): Promise<unknown> {
    const { text, parameters } = payoutWriters.request.statement;
    expect(text).toContain(from);
    const { by, ...payout } = await newPayout(payouts, changes);
    const common = { actor: by.name, note: null, environment: 'sandbox', requestId: null, traceparent: null };
    const values: Readonly<Record<string, unknown>> = { ...common, ...payout };
    const bound = parameters.map((parameter) => values[parameter]);
    return payouts.db.query(text.replace(from, to), bound);
  }

  it('a payout that does not claim what it pays', async () => {
    const claim = 'where line.posting_id = locked.posting_id';
    await expect(requestBy(claim, 'where false')).rejects.toThrow('does not pay its lines');
    await expect(requestBy(claim, `${claim} and locked.amount_rupiah > 100000`)).rejects.toThrow(
      'does not pay its lines',
    );
    expect((await lines()).every(({ isClaimed }) => !isClaimed)).toBe(true);
  });

  it('a posting that gives money back and whose transition does not', async () => {
    const { payoutId } = await applyPayout(payouts, PATHS.completed);
    const again = payouts.db.query(
      `insert into ledger_entries select id, line, account, side, 1000 from ledger_postings,
         (values (11, 'cash', 'debit'), (12, 'merchant_available', 'credit')) line (line, account, side)
       where payout_id = $1 and payout_version = 4`,
      [payoutId],
    );
    await expect(again).rejects.toThrow('changes a balance, and its transition does not');
  });

  it('the bank account of another merchant', async () => {
    const { bankAccountId } = await withNewMerchant(payouts);
    const attempt = requestBy(' and account.merchant_id = merchant.id', '', { bankAccountId });
    await expect(attempt).rejects.toThrow('payouts_bank_account_id_merchant_id_fkey');
  });

  it('a claim of a line of another merchant, and one of a payout that was requested before', async () => {
    const { payoutId } = await applyPayout(payouts, []);
    const other = await withNewMerchant(payouts);
    await addLines(other, [7_000]);
    await addLines(payouts, [5_000]);
    const claim = (merchantId: string) =>
      payouts.context.db.query(
        'update balance_transactions set payout_id = $2 where merchant_id = $1 and payout_id is null',
        [merchantId, payoutId],
      );
    const rejection = 'cannot claim these lines';
    await expect(claim(other.merchantId)).rejects.toThrow(rejection);
    await expect(claim(payouts.merchantId)).rejects.toThrow(rejection);
    await applyPayoutTransition(payouts, 'cancel_request', { payoutId, version: 1 });
    await expect(claim(payouts.merchantId)).rejects.toThrow(rejection);
  });

  it('a second claim of a line, and other terms than those of the request', async () => {
    const { payoutId } = await applyPayout(payouts, []);
    const change = (table: string, column: string, assignment: string) =>
      payouts.db.query(`update ${table} set ${assignment} where ${column} = $1`, [payoutId]);
    for (const assignment of ['payout_id = gen_random_uuid()', 'payout_id = null'])
      await expect(change('balance_transactions', 'payout_id', assignment)).rejects.toThrow('append-only');
    const terms = [
      'gross_rupiah = gross_rupiah + 1, amount_rupiah = amount_rupiah + 1',
      'amount_rupiah = amount_rupiah + 1, fee_rupiah = fee_rupiah - 1',
      'bank_account_id = gen_random_uuid()',
      'merchant_id = gen_random_uuid()',
      "reference_id = 'LP1'",
      "approval_kind = 'operator'",
      "requested_by = 'user:x'",
      "sealed_terms = sealed_terms || 'x'",
      'line_count = line_count + 1',
    ];
    for (const assignment of terms) await expect(change('payouts', 'id', assignment)).rejects.toThrow('append-only');
    await expect(payouts.db.query('delete from payouts where id = $1', [payoutId])).rejects.toThrow('append-only');
  });
});

describe('who approves', () => {
  const OPERATOR = { name: 'operator:dewi' } as const;
  const approve = (payoutId: string, by: StepActor) =>
    applyPayoutTransition(payouts, 'approve', { payoutId, version: 1, by });
  const addMember = (role: MemberRole) =>
    createMember(payouts.db, `${randomUUID()}@shop.test`, [[payouts.merchantId, role]]);

  beforeEach(() => addLines(payouts, [100_000, 200_000]));

  it('a payout is approved by another member who may, and neither by the requester nor by the workflow', async () => {
    const [owner, finance, viewer] = [await addMember('owner'), await addMember('finance'), await addMember('viewer')];
    const { payoutId } = await applyPayout(payouts, [], { by: { name: `user:${owner}` } });
    for (const name of [`user:${owner}`, `user:${viewer}`, `user:${randomUUID()}`, 'workflow', 'cli:x'] as const)
      await expect(approve(payoutId, { name })).rejects.toThrow('not approved by the right people');
    expect(await approve(payoutId, { name: `user:${finance}` })).toMatchObject({ outcome: 'applied' });
  });

  it('the workflow approves if the requester is the only one who may, and for the daily run', async () => {
    const owner = await addMember('owner');
    await addMember('viewer');
    const alone = await applyPayout(payouts, ['approve', 'cancel'], { by: { name: `user:${owner}` } });
    await expect(approve(alone.payoutId, { name: `user:${owner}` })).resolves.toMatchObject({ outcome: 'repeated' });
    await addMember('finance');
    await applyPayout(payouts, ['approve'], { by: { name: 'schedule' } });
  });

  it('an operator approves above the limit of the day, and a request of an operator', async () => {
    const byOperator = await applyPayout(payouts, [], { by: { name: 'cli:sari' } });
    await expect(approve(byOperator.payoutId, { name: 'workflow' })).rejects.toThrow('not approved');
    await approve(byOperator.payoutId, OPERATOR);
    await addLines(
      payouts,
      Array.from({ length: 10 }, () => 9_970_000),
    );
    await applyPayout(payouts, ['approve', 'cancel'], { by: { name: 'schedule' } });
    await addLines(payouts, [1]);
    const above = await applyPayout(payouts, [], { by: { name: 'schedule' } });
    await expect(approve(above.payoutId, { name: 'workflow' })).rejects.toThrow('not approved');
    await approve(above.payoutId, OPERATOR);
  });
});

/** As it is while a request of one operator is executed for another one. */
async function insertApproval(
  action: string,
  parameters: Readonly<Record<string, unknown>>,
  replaces: number | null = null,
): Promise<void> {
  await payouts.db.query(
    `with two as (
       insert into operators (id, name, secret_sha256, prefix, last_four)
       select id, id::text, sha256(id::text::bytea), '', '' from (
         select gen_random_uuid() as id from generate_series(1, 2)
       ) ids returning id
     )
     insert into approvals (action, target, parameters, note, requested_by, status, decided_by, decided_at,
       expected_version)
     select $1, 'payout', $2, 'ticket 7',
       (select min(id::text)::uuid from two), 'approved', (select max(id::text)::uuid from two), now(), $3`,
    [action, parameters, replaces],
  );
}

describe('in production', () => {
  beforeEach(async () => {
    await addLines(payouts, [100_000, 200_000]);
    await setEnvironment(payouts.db, 'production');
  });
  afterEach(async () => {
    await setEnvironment(payouts.db, 'sandbox');
    await payouts.db.query('insert into payout_limits (cooldown_seconds) values (0)');
  });

  it.each([
    ['approve', 'payout.approve', 'not approved by the right people'],
    ['resend', 'payout.resend', 'not approved by two operators'],
    ['resolve_as_completed', 'payout.resolve', 'not approved by two operators'],
    ['resolve_as_failed', 'payout.resolve', 'not approved by two operators'],
    ['resolve_as_returned', 'payout.resolve', 'not approved by two operators'],
    ['resolve_failed_as_completed', 'payout.resolve', 'not approved by two operators'],
  ] as const)('%s of an operator needs the approval %s for this very version', async (name, action, message) => {
    const { from } = PAYOUT_TRANSITIONS[name];
    const requester = name === 'approve' ? 'operator:budi' : 'schedule';
    const { payoutId, referenceId } = await applyPayout(payouts, PATHS[from], { by: { name: requester } });
    const version = PATHS[from].length + 1;
    const attempt = () => applyPayoutTransition(payouts, name, { payoutId, version, by: { name: 'operator:dewi' } });
    await expect(attempt()).rejects.toThrow(message);
    const [, resolution] = name.split('_as_');
    const approved = { payout: payoutId, ...(resolution && { resolution }) };
    await insertApproval(action, approved, version + 1);
    await insertApproval(action, approved);
    await insertApproval(action, { ...approved, payout: randomUUID() }, version);
    const other = resolution === 'failed' ? 'completed' : 'failed';
    await insertApproval(action, { ...approved, resolution: other }, version);
    if (resolution) await insertApproval(action, { payout: payoutId }, version);
    await insertApproval(action, { ...approved, payout: referenceId }, version);
    await insertApproval('payment.settle', approved, version);
    await expect(attempt()).rejects.toMatchObject({ code: 'LN001', message: expect.stringContaining(message) });
    await insertApproval(action, approved, version);
    expect(await attempt()).toMatchObject({ outcome: 'applied' });
  });

  it.each([
    ['payout.start', 'payout_stops', 'ended_stop_id', { is_stopped: false, changed_by: 'x', note: 'y' }],
    [
      'payout.set_limits',
      'payout_limits',
      'replaces_id',
      { cooldown_seconds: 86_400, not_found_seconds: 86_400, day_limit_rupiah: 9 },
    ],
    [
      'payout.set_policy',
      'payout_policies',
      null,
      {
        rail: 'skn',
        version: 2,
        fee_rupiah: 0,
        min_rupiah: 1,
        max_rupiah: null,
        opens_at: '08:00:00',
        closes_at: '14:00:00',
        days: 'working',
        expected_within_seconds: 60,
        is_enabled: true,
      },
    ],
  ] as const)('%s needs two operators, who have approved these very values', async (action, table, column, row) => {
    const stop = "insert into payout_stops (is_stopped, changed_by, note) values (true, 'x', 'y')";
    if (action === 'payout.start') await payouts.db.query(stop);
    const { rows } = await payouts.db.query<{ id: number }>(
      `select max(id) as id from ${table} seen where to_jsonb(seen) @> $1`,
      ['rail' in row ? { rail: row.rail } : {}],
    );
    const { id: seen } = onlyRow(rows);
    const inserted = { ...row, ...(column && { [column]: seen }) };
    const columns = Object.keys(inserted).join(', ');
    const insert = () =>
      payouts.db.query(
        `insert into ${table} (${columns}) select ${columns} from jsonb_populate_record(null::${table}, $1)`,
        [inserted],
      );
    const message = `no two operators have approved this ${action}`;
    await expect(insert()).rejects.toThrow(message);
    const others = { ...row, day_limit_rupiah: 8, fee_rupiah: 1 };
    await insertApproval(action === 'payout.start' ? 'payout.resend' : action, others, seen);
    // The values of this row, in a request that replaces no row.
    await insertApproval(action, row);
    await expect(insert()).rejects.toThrow(message);
    await insertApproval(action, row, seen);
    expect((await insert()).rowCount).toBe(1);
  });

  it.each(["role = 'viewer'", "role = 'owner'", "removed_at = 'epoch'"])(
    'a member who has lost the right to approve (%s) does not make the other one the only one',
    async (change) => {
      const [owner, finance] = await Promise.all(
        (['owner', 'finance'] as const).map((role) =>
          createMember(payouts.db, `${randomUUID()}@shop.test`, [[payouts.merchantId, role]]),
        ),
      );
      const by = { name: `user:${owner}` } as const;
      await ageMembers(payouts.db);
      await applyPayout(payouts, ['approve', 'cancel'], { by: { name: 'schedule' } });
      await withClient(payouts.database.urlOf('lunas_local_dashboard'), (dashboard) =>
        dashboard.query(`update members set ${change} where user_id = $1`, [finance]),
      );
      const { payoutId } = await applyPayout(payouts, [], { by });
      const kindOf = 'select approval_kind from payouts where id = $1';
      expect((await payouts.db.query(kindOf, [payoutId])).rows).toEqual([{ approval_kind: 'operator' }]);
      await applyPayoutTransition(payouts, 'cancel_request', { payoutId, version: 1, by });
      await payouts.db.query("update members set authorised_until = now() - interval '25 hours' where user_id = $1", [
        finance,
      ]);
      const later = await applyPayout(payouts, [], { by });
      expect((await payouts.db.query(kindOf, [later.payoutId])).rows).toEqual([{ approval_kind: 'none' }]);
    },
  );
});

const ROUNDS = bySize({ small: 20, full: 1_000 });

it.each([ROUNDS])(
  '%i rounds of 20 concurrent requests of one balance make one payout each',
  async (rounds) => {
    for (let round = 1; round <= rounds; round += 1) {
      await addLines(payouts, [round * 10_000, 20_000]);
      const shown = await newPayout(payouts);
      const results = await Promise.all(
        Array.from({ length: 20 }, () => {
          const payoutId = randomUUID();
          const own = { payoutId, referenceId: `LP${payoutId}` };
          return payoutWriters.request(payouts.context, { ...shown, ...own });
        }),
      );
      expect(results.filter((result) => result !== undefined)).toHaveLength(1);
    }
    const { rows } = await payouts.db.query(
      `select count(*)::integer as payouts, sum(gross_rupiah)::bigint as gross,
       (select sum(amount_rupiah) from balance_transactions line where merchant_id = $1 and payout_id is null)
         as unclaimed,
       (select count(*)::integer from (
         select from balance_transactions where merchant_id = $1 group by payout_id having sum(amount_rupiah) <> 0
       ) wrong) as wrong
     from payouts where merchant_id = $1`,
      [payouts.merchantId],
    );
    const gross = (10_000 * rounds * (rounds + 1)) / 2 + 20_000 * rounds;
    expect(rows).toEqual([{ payouts: rounds, gross, unclaimed: null, wrong: 0 }]);
  },
  900_000,
);

/** Starts both together, in turn the one and the other first. */
async function race<One, Other>(
  round: number,
  one: () => Promise<One>,
  other: () => Promise<Other>,
): Promise<[One, Other]> {
  if (round % 2 === 0) return Promise.all([one(), other()]);
  const [second, first] = await Promise.all([other(), one()]);
  return [first, second];
}

it.each([
  ['approve', 'cancel_request', 'requested'],
  ['submit', 'cancel', 'approved'],
  ['complete', 'resolve_as_failed', 'submitted'],
  ['return', 'resolve_as_returned', 'completed'],
] as const)(
  `${ROUNDS} races of %s and %s from %s have one winner each`,
  async (one, other, from) => {
    const payoutIds: string[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      // What comes back is in the next payout of a merchant: its sum of a day would need an operator's approval.
      const shop = await withNewMerchant(payouts);
      await addLines(shop, [15_000]);
      const { payoutId } = await applyPayout(shop, PATHS[from]);
      const apply = (name: StepName) => () =>
        applyPayoutTransition(shop, name, { payoutId, version: PATHS[from].length + 1 });
      const results = await race(round, apply(one), apply(other));
      expect(results.map(({ outcome }) => outcome).toSorted()).toEqual(['applied', 'superseded']);
      payoutIds.push(payoutId);
    }
    const { rows } = await payouts.db.query(
      `select payout_id from payout_transitions where payout_id = any($1) group by payout_id having count(*) <> $2`,
      [payoutIds, PATHS[from].length + 2],
    );
    expect(rows).toEqual([]);
  },
  900_000,
);

it.each([ROUNDS])(
  '%i races of a submit and the end of its bank account: nothing is sent to one that has ended',
  async (rounds) => {
    for (let round = 0; round < rounds; round += 1) {
      const id = await prepareBankAccount(payouts, payouts.merchantId, 'active');
      await addLines(payouts, [15_000]);
      const { payoutId } = await applyPayout(payouts, ['approve'], { bankAccountId: id });
      // The row is locked until this has read whether the payout was submitted before.
      const end = () =>
        inTransaction(payouts.db, async (client) => {
          await changeBankAccount(client, 'disable', {
            id,
            merchantId: null,
            version: null,
            at: new Date(),
            actor: 'cli:test',
          });
          const { rows } = await client.query('select status from payouts where id = $1', [payoutId]);
          return String(rows[0]?.status);
        });
      const submit = () => applyPayoutTransition(payouts, 'submit', { payoutId, version: 2 });
      const [{ outcome }, statusAtEnd] = await race(round, submit, end);
      expect([
        'applied, submitted at the end of the account',
        'deferred, approved at the end of the account',
      ]).toContain(`${outcome}, ${statusAtEnd} at the end of the account`);
      if (outcome !== 'applied') await applyPayoutTransition(payouts, 'cancel', { payoutId, version: 2 });
    }
  },
  900_000,
);
