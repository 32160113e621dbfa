import { randomUUID } from 'node:crypto';
import { LEDGER_BREAK_KINDS } from '../../../src/services/ledger/find-ledger-breaks';
import { verifyLedger } from '../../../src/services/ledger/verify-ledger';
import { closeDaysUntil } from '../../support/close-days';
import { eventually } from '../../support/eventually';
import { createTestLedger, type TestLedger } from '../../support/payments';
import { addLines, applyPayout, createTestPayouts, withNewMerchant, type TestPayouts } from '../../support/payouts';
import { applyTransitions, payLate } from './transition-path';

let ledger: TestLedger;
beforeAll(async () => {
  ledger = await createTestLedger();
});
afterEach(async () => {
  await past('update totals_progress set line_posting_id = 0');
  await past(
    `truncate payments, payment_transitions, ledger_postings, ledger_entries, ledger_verifications,
       balance_transactions, balance_days, ended_days, closed_days, open_balance_days cascade`,
  );
});
afterAll(() => ledger.close());

const SETTLED = ['issue', 'pay', 'settle'] as const;

/** Raw SQL without triggers and foreign keys, like a disk error or a manual change of the database. */
async function plant(statement: string, values: readonly unknown[] = []): Promise<void> {
  expect(await past(statement, values)).toBeGreaterThan(0);
}

async function past(statement: string, values: readonly unknown[] = [], db = ledger.db): Promise<number> {
  const client = await db.connect();
  await client.query('set session_replication_role = replica');
  const { rowCount } = await client.query(statement, [...values]);
  client.release(true);
  return rowCount ?? 0;
}

async function breaks() {
  const { breaks, breakCount } = await verifyLedger(ledger.db, { all: true });
  expect(breakCount).toBe(breaks.length);
  return breaks;
}

const postingIdOf = (version: number) =>
  `(select id from ledger_postings where payment_id = $1 and payment_version = ${version})`;

const entryOf = (version: number, line: number) => `posting_id = ${postingIdOf(version)} and line = ${line}`;

const insertPosting = (columns: string, values: string) =>
  `with posting as (
     insert into ledger_postings (payment_id, merchant_id, occurred_at, ${columns})
     select id, merchant_id, now(), ${values} from payments where id = $1 returning id
   )
   insert into ledger_entries select id, line, account, side, 5 from posting,
     (values (1, 'suspense', 'debit'), (2, 'fee_revenue', 'credit')) line (line, account, side)`;

/** One violation each, in the ledger of a settled payment, with the breaks that it causes. */
const VIOLATIONS: readonly (readonly [name: string, statement: string, found: readonly string[], words: RegExp])[] = [
  [
    'a posting is lost',
    'delete from ledger_postings where payment_id = $1 and payment_version = 3',
    ['posting_missing', 'entries_without_posting'],
    /Version 3 \(pay\) is not posted: debit provider_receivable Rp 50\.000/,
  ],
  [
    'its entries are lost',
    `delete from ledger_entries where posting_id = ${postingIdOf(4)}`,
    ['posting_without_entries', 'balance_disagrees'],
    /Posting \d+ of Version 4 \(settle\) has no entries/,
  ],
  [
    'an amount has changed',
    `update ledger_entries set amount_rupiah = amount_rupiah + 1 where ${entryOf(3, 2)}`,
    ['posting_unbalanced'],
    /is off by Rp 1:/,
  ],
  ['a line is lost', `delete from ledger_entries where ${entryOf(3, 3)}`, ['posting_unbalanced'], /is off by Rp 350:/],
  [
    'a line is on another account',
    `update ledger_entries set account = 'suspense' where ${entryOf(3, 3)}`,
    ['posting_wrong_lines'],
    /posts .*suspense Rp 350.* and should post .*fee_revenue Rp 350/,
  ],
  [
    'a worker of a version without VAT has booked the whole fee as revenue',
    `update payments set vat_rupiah = 34, fee_terms = '{"source": "catalog", "class": null, "basisPoints": 70,
       "flatRupiah": 0, "validFrom": null, "vatBasisPoints": 1100}' where id = $1`,
    ['posting_wrong_lines'],
    /posts .*fee_revenue Rp 350, and should post .*vat_payable Rp 34, .*fee_revenue Rp 316/,
  ],
  [
    'debit and credit are swapped',
    `update ledger_entries set side = case side when 'debit' then 'credit' else 'debit' end
     where posting_id = ${postingIdOf(4)}`,
    ['posting_wrong_lines', 'line_disagrees', 'balance_disagrees'],
    /posts .*credit merchant_pending/,
  ],
  [
    'the amounts of the payment have changed',
    'update payments set amount_rupiah = 60000, total_rupiah = 60000, net_rupiah = 59650 where id = $1',
    ['posting_wrong_lines', 'posting_wrong_lines'],
    /and should post debit provider_receivable Rp 60\.000/,
  ],
  [
    'a transition without a posting rule has a posting',
    insertPosting('payment_version', '2'),
    ['posting_unexpected'],
    /Posting \d+ of version 2 is not expected by any transition/,
  ],
  ['a posting has no transition', insertPosting('payment_version', '9'), ['posting_unexpected'], /version 9/],
  [
    'a posting has no late payment',
    insertPosting('late_payment_step', "'receive'"),
    ['posting_unexpected'],
    /late payment \(receive\)/,
  ],
  [
    'a posting has another merchant',
    'update ledger_postings set merchant_id = gen_random_uuid() where payment_id = $1 and payment_version = 4',
    ['posting_of_other_merchant', 'line_disagrees', 'balance_disagrees', 'balance_disagrees'],
    /is posted for merchant/,
  ],
  [
    'the payment has another status',
    "update payments set status = 'paid' where id = $1",
    ['payment_disagrees'],
    /It is "paid" at version 4, but Version 4 \(settle\) led to "settled"/,
  ],
  ['the payment has another version', 'update payments set version = 7 where id = $1', ['payment_disagrees'], /7/],
  [
    'a middle transition is lost',
    'delete from payment_transitions where payment_id = $1 and version = 2',
    ['version_out_of_order'],
    /Version 3 \(pay\) is where version 2 is due/,
  ],
  [
    'the last transition is lost',
    'delete from payment_transitions where payment_id = $1 and version = 4',
    ['payment_disagrees', 'posting_unexpected'],
    /at version 4, but Version 3/,
  ],
  [
    'a transition has an unknown name',
    "update payment_transitions set name = 'wish' where payment_id = $1 and version = 2",
    ['transition_not_in_table'],
    /Version 2 \(wish\) from "created" to "pending" is not in the table/,
  ],
  [
    'a transition leads elsewhere',
    "update payment_transitions set to_status = 'failed' where payment_id = $1 and version = 2",
    ['transition_not_in_table', 'path_broken'],
    /Version 3 \(pay\) starts from "pending", but the payment was "failed"/,
  ],
  [
    'all transitions are lost',
    'delete from payment_transitions where payment_id = $1',
    ['transitions_missing', 'posting_unexpected', 'posting_unexpected'],
    /It is "settled" without a transition/,
  ],
  [
    'a line of the balance is lost',
    'delete from balance_transactions where payment_id = $1',
    ['line_missing', 'balance_disagrees'],
    /The line of posting \d+ is missing[^]*the ledger has Rp 99\.300, its lines Rp 49\.650/,
  ],
  [
    'a line of the balance has another amount',
    'update balance_transactions set amount_rupiah = amount_rupiah + 1 where payment_id = $1',
    ['line_disagrees', 'balance_disagrees'],
    /has Rp 49\.651; its entry has Rp 49\.650/,
  ],
  [
    'a line of the balance has no entry',
    `insert into balance_transactions (posting_id, merchant_id, kind, amount_rupiah, payment_id, occurred_at, booked_on)
     select ${postingIdOf(3)}, merchant_id, kind, amount_rupiah, payment_id, occurred_at, booked_on
     from balance_transactions where payment_id = $1`,
    ['line_unexpected', 'balance_disagrees'],
    /has Rp 49\.650, but no entry exists/,
  ],
  [
    'a closed day has other sums than its lines',
    `with closed as (insert into closed_days select max(booked_on) from balance_transactions returning day)
     insert into balance_days (merchant_id, day, closing_rupiah, credit_rupiah, debit_rupiah, line_count)
     select merchant_id, day, 99301, 99301, 0, 2 from closed, payments where id = $1`,
    ['closed_day_disagrees'],
    /the closed day changes by Rp 99\.301, its lines by Rp 99\.300/,
  ],
  [
    'the sum of an open day is not that of its counted lines',
    `with counted as (update totals_progress set line_posting_id = (select max(posting_id) from balance_transactions))
     insert into open_balance_days
     select merchant_id, max(booked_on), 99301, 0, 2 from balance_transactions
     where merchant_id = (select merchant_id from payments where id = $1) group by merchant_id`,
    ['open_day_disagrees'],
    /the sum of the open day changes by Rp 99\.301, its lines by Rp 99\.300/,
  ],
  ['the payment is lost', 'delete from payments where id = $1', ['payment_missing'], /4 transitions and 2 postings/],
];

/** The same for a completed payout of two lines. */
const PAYOUT_VIOLATIONS: typeof VIOLATIONS = [
  [
    'its posting is lost',
    'delete from ledger_postings where payout_id = $1 and payout_version = 4',
    ['posting_missing', 'entries_without_posting', 'in_transit_disagrees'],
    /Version 4 \(complete\) is not posted/,
  ],
  [
    'its amounts have changed',
    'update payouts set amount_rupiah = amount_rupiah - 1, fee_rupiah = fee_rupiah + 1 where id = $1',
    ['posting_wrong_lines', 'posting_wrong_lines'],
    /should post/,
  ],
  [
    'it has another status',
    "update payouts set status = 'submitted', finished_at = null where id = $1",
    ['payout_disagrees', 'in_transit_disagrees'],
    /It is "submitted" at version 4/,
  ],
  [
    'a transition is lost',
    'delete from payout_transitions where payout_id = $1 and version = 2',
    ['version_out_of_order'],
    /where version 2 is due/,
  ],
  [
    'a line is not claimed any more',
    'update balance_transactions set payout_id = null where payout_id = $1 and amount_rupiah = 200000',
    ['payout_lines_disagree'],
    /has 2 lines, 0 of other merchants, with Rp -200\.?000; 3 with Rp 0 are due/,
  ],
  [
    'a line is of another merchant',
    'update balance_transactions set merchant_id = gen_random_uuid() where payout_id = $1 and amount_rupiah = 200000',
    ['payout_lines_disagree', 'line_disagrees', 'balance_disagrees', 'balance_disagrees'],
    /1 of other merchants/,
  ],
  ['it is lost', 'delete from payouts where id = $1', ['payout_missing'], /4 transitions and 2 postings/],
];

it('finds no breaks in a correct ledger, and returns the account balances', async () => {
  await applyTransitions(ledger, SETTLED);
  await applyTransitions(ledger, ['issue', 'pay', 'request_refund', 'submit_refund', 'confirm_refund']);
  const { balances, ...rest } = await verifyLedger(ledger.db);
  expect(rest).toMatchObject({ payments: 2, postings: 4, breakCount: 0, breaks: [] });
  expect(balances.map(({ account, balanceRupiah }) => [account, balanceRupiah])).toEqual([
    ['fee_revenue', -700],
    ['merchant_available', -49_300],
    ['merchant_pending', 0],
    ['provider_receivable', 50_000],
  ]);
});

it('finds no breaks in an empty database', async () => {
  expect(await verifyLedger(ledger.db)).toMatchObject({ payments: 0, postings: 0, balances: [], breaks: [] });
});

it.each(VIOLATIONS)('finds only this break: %s', async (_name, statement, found, words) => {
  await applyTransitions(ledger, SETTLED);
  const { terms } = await applyTransitions(ledger, SETTLED);
  await applyTransitions(ledger, ['issue', 'expire']);
  await plant(statement, [terms.paymentId]);

  const all = await breaks();
  expect(all.map(({ kind }) => kind).sort()).toEqual([...found].sort());
  expect(all.map(({ detail }) => detail).join('\n')).toMatch(words);
  const ofOthers = all.filter(({ paymentId }) => paymentId !== null && paymentId !== terms.paymentId);
  expect(ofOthers).toEqual([]);
});

it('finds a second posting of a transition, which the database rejects', async () => {
  const { terms } = await applyTransitions(ledger, SETTLED);
  const again = `with posting as (
      insert into ledger_postings (payment_id, payment_version, merchant_id, occurred_at)
      select payment_id, 3, merchant_id, now() from ledger_postings where payment_id = $1 and payment_version = 3
      returning id
    )
    insert into ledger_entries select posting.id, line, account, side, amount_rupiah from posting, ledger_entries
    where posting_id = (select id from ledger_postings where payment_id = $1 and payment_version = 3)`;
  await expect(ledger.db.query(again, [terms.paymentId])).rejects.toThrow(
    'ledger_postings_payment_id_payment_version_key',
  );
  const constraint = 'constraint ledger_postings_payment_id_payment_version_key';
  await ledger.db.query(`alter table ledger_postings drop ${constraint}`);
  await ledger.db.query(again, [terms.paymentId]);
  expect(await breaks()).toMatchObject([{ kind: 'posting_twice', paymentId: terms.paymentId }]);
  await past('truncate ledger_postings, ledger_entries, balance_transactions');
  await ledger.db.query(`alter table ledger_postings add ${constraint} unique (payment_id, payment_version)`);
});

describe('payouts', () => {
  let payouts: TestPayouts;
  beforeAll(async () => {
    payouts = await createTestPayouts();
  });
  beforeEach(async () => {
    payouts = await withNewMerchant(payouts);
    await addLines(payouts, [100_000, 200_000]);
  });
  afterEach(() =>
    past(
      `truncate payments, payment_transitions, payouts, payout_transitions, ledger_postings, ledger_entries,
         ledger_verifications, balance_transactions cascade`,
      [],
      payouts.db,
    ),
  );
  afterAll(() => payouts.close());

  const COMPLETED = ['approve', 'submit', 'complete'] as const;

  it('payouts have no breaks in any status, in a full verification and in the next one', async () => {
    await applyPayout(payouts, ['approve', 'submit', 'fail', 'complete_failed']);
    await addLines(payouts, [350_000]);
    for (const path of [['approve', 'cancel'], ['approve', 'submit', 'complete', 'return'], []] as const)
      await applyPayout(payouts, path);
    expect(await verifyLedger(payouts.db, { all: true })).toMatchObject({ payouts: 4, breaks: [] });
    await addLines(payouts, [20_000]);
    await applyPayout(payouts, COMPLETED);
    expect(await verifyLedger(payouts.db)).toMatchObject({ payouts: 5, breaks: [] });
  });

  it.each(PAYOUT_VIOLATIONS)('finds only this break: %s', async (_name, statement, found, words) => {
    const { payoutId } = await applyPayout(payouts, COMPLETED);
    expect(await past(statement, [payoutId], payouts.db)).toBeGreaterThan(0);
    const { breaks: all } = await verifyLedger(payouts.db, { all: true });
    expect(all.map(({ kind }) => kind).sort()).toEqual([...found].sort());
    expect(all.map(({ detail }) => detail).join('\n')).toMatch(words);
    expect(all.some(({ detail }) => detail.startsWith(`Payout ${payoutId}`))).toBe(true);
  });
});

it('finds entries without a posting', async () => {
  await plant("insert into ledger_entries values (4711, 1, 'suspense', 'debit', 5)");
  expect(await breaks()).toEqual([
    {
      kind: 'entries_without_posting',
      paymentId: null,
      detail: 'Posting 4711 is missing, but has entries.',
    },
  ]);
});

it.each([
  [
    'its receipt is not posted',
    "delete from ledger_postings where payment_id = $1 and late_payment_step = 'receive'",
    'posting_missing',
  ],
  [
    'its refund is not posted',
    "delete from ledger_postings where payment_id = $1 and late_payment_step = 'refund'",
    'posting_missing',
  ],
  [
    'it is refunded twice, by the provider and by an operator',
    `with posting as (
       insert into ledger_postings (payment_id, late_payment_step, merchant_id, occurred_at)
       select payment_id, 'refund_manually', merchant_id, occurred_at from ledger_postings
       where payment_id = $1 and late_payment_step = 'refund' returning id
     )
     insert into ledger_entries
     select posting.id, line, case account when 'suspense' then account else 'cash' end, side, amount_rupiah
     from posting, ledger_entries
     where posting_id = (select id from ledger_postings where payment_id = $1 and late_payment_step = 'refund')`,
    'posting_unexpected',
  ],
  [
    'it was not refunded',
    "update late_payments set status = 'manual_review', failure_reason = 'x' where payment_id = $1",
    'posting_unexpected',
  ],
  ['its amount differs', 'update late_payments set total_rupiah = 1 where payment_id = $1', 'posting_wrong_lines'],
  ['it does not exist', 'delete from late_payments where payment_id = $1', 'posting_unexpected'],
])('finds this break of a late payment: %s', async (_name, statement, kind) => {
  const path = await applyTransitions(ledger, ['issue', 'expire']);
  await payLate(ledger, path, 50_000, 'refunded');
  expect(await breaks()).toEqual([]);
  await plant(statement, [path.terms.paymentId]);
  const kinds = new Set((await breaks()).map((found) => found.kind));
  expect([...kinds].filter((found) => found !== 'entries_without_posting')).toEqual([kind]);
});

it('finds each break among many payments once, and reports no concurrent transition', async () => {
  const { terms } = await applyTransitions(ledger, SETTLED);
  await ledger.db.query(
    `insert into payments select (jsonb_populate_record(payments, jsonb_build_object('id', gen_random_uuid(),
       'reference_id', 'LN' || n, 'status', 'created', 'version', 1, 'idempotency_key', null))).*
     from payments, generate_series(1, 2500) n where id = $1`,
    [terms.paymentId],
  );
  await ledger.db.query(
    `insert into payment_transitions select id, 1, 'create', null, 'created', created_at, 'workflow', null
     from payments where version = 1`,
  );
  const { rows } = await ledger.db.query<{ id: string }>(
    'select id from payments where version = 1 order by md5(id::text) limit 40',
  );
  for (const { id } of rows) await plant("update payments set status = 'paid' where id = $1", [id]);

  const progress: number[] = [];
  let moved: Promise<unknown> | undefined;
  const { breaks, payments } = await verifyLedger(ledger.db, {
    all: true,
    onProgress: (done) => {
      progress.push(done);
      // In the last range.
      moved ??= applyTransitions(ledger, SETTLED, { paymentId: 'ffffffff-ffff-4fff-bfff-ffffffffffff' });
    },
  });
  await moved;
  expect([2_501, 2_502]).toContain(payments);
  expect(progress).toEqual([1_000, 2_000, payments]);
  expect(new Set(breaks.map(({ paymentId }) => paymentId))).toEqual(new Set(rows.map(({ id }) => id)));
  expect(breaks).toHaveLength(40);
  expect((await verifyLedger(ledger.db, { all: true })).payments).toBe(2_502);
});

it('finds totals that are not those of the payments', async () => {
  await applyTransitions(ledger, SETTLED);
  // The totals are kept, and the transitions above are not counted yet, which is no break.
  await ledger.db.query('update totals_progress set counted_at = now()');
  expect(await breaks()).toEqual([]);
  await ledger.db.query(
    "insert into payment_hour_totals values ($1, 'paid', date_trunc('hour', now(), 'UTC'), 'gopay', 1, 50000, 49650)",
    [ledger.merchantId],
  );
  expect(await breaks()).toMatchObject([
    { kind: 'totals_disagree', detail: expect.stringMatching(/the payments are -1 and Rp -50\.000 more/) },
  ]);
  await ledger.db.query('delete from payment_hour_totals');
  await ledger.db.query("update totals_progress set counted_at = 'epoch'");
});

it('a violation is planted for each kind of break', () => {
  const elsewhere = ['invoice_sum', 'posting_twice', 'totals_disagree', 'verified_sums_disagree'];
  const planted = new Set([...[...VIOLATIONS, ...PAYOUT_VIOLATIONS].flatMap(([, , found]) => found), ...elsewhere]);
  expect([...planted].sort()).toEqual([...LEDGER_BREAK_KINDS].sort());
});

it('finds rows without a payment', async () => {
  const id = randomUUID();
  await plant("insert into payment_transitions values ($1, 1, 'create', null, 'created', now(), 'workflow', null)", [
    id,
  ]);
  expect(await breaks()).toMatchObject([{ kind: 'payment_missing', paymentId: id }]);
});

describe('an incremental verification', () => {
  /** Moves the last verification back in time, beyond the overlap. */
  async function verifiedLongAgo(): Promise<void> {
    await past("update payment_transitions set recorded_at = recorded_at - interval '3 hours'");
  }

  it('verifies changes since the last verification without breaks, and adds to its balances', async () => {
    await applyTransitions(ledger, SETTLED);
    expect(await verifyLedger(ledger.db)).toMatchObject({ since: null, payments: 1, postings: 2 });
    await verifiedLongAgo();
    const open = await applyTransitions(ledger, ['issue']);
    await applyTransitions(ledger, SETTLED);
    const incremental = await verifyLedger(ledger.db);
    expect(incremental).toMatchObject({ since: expect.any(Date), payments: 2, postings: 2, breakCount: 0 });
    const full = await verifyLedger(ledger.db, { all: true });
    expect(full).toMatchObject({ since: null, payments: 3, postings: 4 });
    expect(incremental.balances).toEqual(full.balances);

    await verifiedLongAgo();
    await payLate(ledger, await applyTransitions(ledger, ['issue', 'expire']), 50_000, 'refunded');
    await verifyLedger(ledger.db);
    await verifiedLongAgo();
    // The only change is a manual posting for an old payment.
    await plant(insertPosting('payment_version', '2'), [open.terms.paymentId]);
    expect(await verifyLedger(ledger.db)).toMatchObject({ payments: 1, breaks: [{ kind: 'posting_unexpected' }] });
  });

  it('compares the days that were closed since with their lines', async () => {
    await applyTransitions(ledger, SETTLED);
    await verifyLedger(ledger.db);
    // A line that the sums do not have.
    await past('update totals_progress set line_posting_id = (select max(posting_id) from balance_transactions)');
    await closeDaysUntil(ledger.db, 'booking_day(now())');
    const { breaks } = await verifyLedger(ledger.db);
    expect(breaks).toMatchObject([{ kind: 'closed_day_disagrees', detail: expect.stringContaining('its lines by') }]);
    await past("update closed_days set closed_at = closed_at - interval '3 hours'");
    expect(await verifyLedger(ledger.db)).toMatchObject({ breakCount: 0 });
  });

  it('finds lines that were added to a posting long ago, also balanced ones on one account', async () => {
    const { terms } = await applyTransitions(ledger, SETTLED);
    await verifyLedger(ledger.db);
    await verifiedLongAgo();
    const add = `insert into ledger_entries
      select ${postingIdOf(3)}, line, 'suspense', side, 5 from (values (8, 'debit'), (9, 'credit')) line (line, side)`;
    await expect(ledger.db.query(add, [terms.paymentId])).rejects.toMatchObject({ code: '23001' });
    expect(await verifyLedger(ledger.db)).toMatchObject({ breakCount: 0 });
    await plant(add, [terms.paymentId]);
    expect((await verifyLedger(ledger.db)).breaks).toEqual([
      {
        kind: 'verified_sums_disagree',
        paymentId: null,
        detail: expect.stringMatching(
          /^suspense: .* have debit Rp 5, credit Rp 5, and had debit Rp 0, credit Rp 0 when/,
        ),
      },
    ]);
  });

  it('starts from the same checkpoint while there is a break', async () => {
    const { terms } = await applyTransitions(ledger, SETTLED);
    await plant("update payments set status = 'paid' where id = $1", [terms.paymentId]);
    for (const since of [null, null]) {
      expect(await verifyLedger(ledger.db)).toMatchObject({ since, breaks: [{ kind: 'payment_disagrees' }] });
    }
    await plant("update payments set status = 'settled' where id = $1", [terms.paymentId]);
    await verifyLedger(ledger.db);
    expect(await verifyLedger(ledger.db)).toMatchObject({ since: expect.any(Date), breakCount: 0 });
  });

  it('records the result of each verification', async () => {
    const { terms } = await applyTransitions(ledger, SETTLED);
    await verifyLedger(ledger.db);
    await plant(`delete from ledger_entries where ${entryOf(3, 3)}`, [terms.paymentId]);
    await verifyLedger(ledger.db, { all: true });
    await verifyLedger(ledger.db);
    const { rows } = await ledger.db.query(
      'select is_full, break_count from ledger_verification_results order by id desc limit 3',
    );
    expect(rows.toReversed()).toEqual([
      { is_full: true, break_count: 0 },
      { is_full: true, break_count: 1 },
      // The payment, and the sum of its account.
      { is_full: false, break_count: 2 },
    ]);
  });

  it('includes a posting whose transaction commits after a newer one', async () => {
    const { terms } = await applyTransitions(ledger, ['issue', 'expire']);
    const client = await ledger.db.connect();
    await client.query('begin');
    // Its id is lower than the id of the next payment's posting.
    await client.query('set session_replication_role = replica');
    await client.query(insertPosting('payment_version', '2'), [terms.paymentId]);
    await applyTransitions(ledger, SETTLED);
    const query = jest.spyOn(ledger.db, 'query');
    const first = verifyLedger(ledger.db);
    await eventually(
      async () => query.mock.calls.filter(([statement]) => JSON.stringify(statement).includes('xmin')).length,
      (waitingSessions) => waitingSessions > 1,
    );
    query.mockRestore();
    await client.query('commit');
    client.release(true);
    expect((await first).breaks).toMatchObject([{ kind: 'posting_unexpected' }]);
    expect((await verifyLedger(ledger.db)).breaks).toMatchObject([{ kind: 'posting_unexpected' }]);
  });
});
