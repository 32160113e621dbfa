import { randomUUID } from 'node:crypto';
import * as fc from 'fast-check';
import { findCreationHabits, listOwnPayments, sumOwnPayments } from '../../../src/db/payments/own-payments';
import { MAX_SHIFT_PAYMENTS, readShift } from '../../../src/db/payments/read-shift';
import { PAID_STATUSES, RECEIVED_STATUSES, type PaymentStatus } from '../../../src/domain/payment-transitions';
import { applyChoices, applyTransitions, type AppliedPath } from '../../services/ledger/transition-path';
import { explainQueries } from '../../support/explain';
import { createTestLedger, type TestLedger } from '../../support/payments';
import { createMember, createShop } from '../../support/people';
import { bySize } from '../../support/size';
import { withoutIndexes } from '../../support/without-indexes';

let ledger: TestLedger;
beforeAll(async () => {
  ledger = await createTestLedger();
});
afterAll(() => ledger.close());

const AT = new Date('2026-11-21T08:00:00.000Z');
const FROM = new Date('2026-11-21T00:00:00.000Z');
const TO = new Date('2026-11-22T00:00:00.000Z');
const shiftOf = (merchantId: string, userId: string) => ({ merchantId, userId, from: FROM, to: TO });

async function newShop(roles: number): Promise<{ merchantId: string; users: string[] }> {
  const { id } = await createShop(ledger.db);
  const people = Array.from({ length: roles }, () =>
    createMember(ledger.db, `${randomUUID()}@shop.test`, [[id, 'cashier']]),
  );
  return { merchantId: id, users: await Promise.all(people) };
}

/** The log of a user, as the form writes it. */
async function record(merchantId: string, userId: string, target: string, at = AT, detail: object = {}): Promise<void> {
  await ledger.db.query(
    `insert into user_actions (actor, via, user_id, merchant_id, action, target, address, requested_at, detail)
     values ('user:' || $2::uuid, 'dashboard', $2::uuid, $1, 'payment.create', $3, '203.0.113.7', $4, $5)`,
    [merchantId, userId, target, at, JSON.stringify(detail)],
  );
}

/** When the payment was created: its row is of now. */
async function setCreatedAt(paymentId: string, at = AT): Promise<void> {
  await ledger.db.query('update payments set created_at = $2 where id = $1', [paymentId, at]);
}

/** The lines of the balance of these payments, by themselves. */
async function sumLines(ids: readonly string[]): Promise<number> {
  const { rows } = await ledger.db.query<{ sum: number }>(
    `select coalesce(sum(amount_rupiah), 0)::bigint as sum from balance_transactions
     where payment_id = any($1) and kind = 'settlement'`,
    [ids],
  );
  return rows[0]?.sum ?? -1;
}

const history = fc.record({
  choices: fc.array(fc.nat({ max: 19 }), { maxLength: 8 }),
  user: fc.nat({ max: 1 }),
  /** A double tap of the form that was recorded twice. */
  isDoubled: fc.boolean(),
  isInShift: fc.boolean(),
});

it('a shift is what its member created then, and its net is in the balance or not yet settled', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(history, { maxLength: 12 }), async (histories) => {
      const { merchantId, users } = await newShop(2);
      const own: AppliedPath[] = [];
      for (const { choices, user, isDoubled, isInShift } of histories) {
        const applied = await applyChoices(ledger, choices, { merchantId });
        const at = isInShift ? FROM : TO;
        const times = isDoubled ? 2 : 1;
        await setCreatedAt(applied.terms.paymentId, at);
        for (let time = 0; time < times; time += 1) {
          await record(merchantId, users[user] ?? '', applied.terms.paymentId, at);
        }
        if (user === 0 && isInShift) own.push(applied);
      }
      const { figures, payments } = await readShift(ledger.db, shiftOf(merchantId, users[0] ?? ''));
      const having = (statuses: readonly PaymentStatus[]) => own.filter(({ status }) => statuses.includes(status));
      const sum = (paths: readonly AppliedPath[], amount: 'totalRupiah' | 'netRupiah') =>
        paths.reduce((total, { terms }) => total + terms[amount], 0);
      const settled = having(['settled']);
      expect(figures).toEqual({
        isTooLong: false,
        hasArchivedDays: false,
        created: own.length,
        paid: having(PAID_STATUSES).length,
        paidRupiah: sum(having(PAID_STATUSES), 'totalRupiah'),
        refunded: having(['refunded']).length,
        waiting: having(['created', 'pending']).length,
        netRupiah: sum(having(RECEIVED_STATUSES), 'netRupiah'),
        inBalanceRupiah: await sumLines(settled.map(({ terms }) => terms.paymentId)),
        unsettledRupiah: sum(having(RECEIVED_STATUSES), 'netRupiah') - sum(settled, 'netRupiah'),
        isEqual: true,
      });
      const listed = payments.map(({ referenceId, status, settledRupiah }) => [referenceId, status, settledRupiah]);
      const expected = own.map(({ terms, status }) => [
        terms.referenceId,
        status,
        status === 'settled' ? terms.netRupiah : null,
      ]);
      const byReference = ([one]: readonly unknown[], [other]: readonly unknown[]) =>
        String(one).localeCompare(String(other));
      expect(listed.toSorted(byReference)).toEqual(expected.toSorted(byReference));
    }),
    { numRuns: bySize({ small: 20, full: 500 }) },
  );
});

it('the fee of a refund is a line of the balance, and no part of a shift', async () => {
  const { merchantId, users } = await newShop(1);
  const path = ['issue', 'pay', 'request_refund', 'submit_refund', 'confirm_refund'] as const;
  const { terms } = await applyTransitions(ledger, path, { merchantId });
  await setCreatedAt(terms.paymentId);
  await record(merchantId, users[0] ?? '', terms.paymentId);
  const { rows } = await ledger.db.query('select kind from balance_transactions where payment_id = $1', [
    terms.paymentId,
  ]);
  expect(rows).toEqual([{ kind: 'refund_fee' }]);
  const { figures, payments } = await readShift(ledger.db, shiftOf(merchantId, users[0] ?? ''));
  expect([figures.refunded, figures.inBalanceRupiah, figures.isEqual]).toEqual([1, 0, true]);
  expect(payments.map(({ settledRupiah }) => settledRupiah)).toEqual([null]);
});

it('a settled payment without its line in the balance makes the parts of a shift unequal', async () => {
  const { merchantId, users } = await newShop(1);
  const { terms } = await applyTransitions(ledger, ['issue', 'pay'], { merchantId });
  await setCreatedAt(terms.paymentId);
  await record(merchantId, users[0] ?? '', terms.paymentId);
  await ledger.db.query("update payments set status = 'settled' where id = $1", [terms.paymentId]);
  const { figures } = await readShift(ledger.db, shiftOf(merchantId, users[0] ?? ''));
  expect([figures.netRupiah, figures.inBalanceRupiah, figures.unsettledRupiah]).toEqual([terms.netRupiah, 0, 0]);
  expect(figures.isEqual).toBe(false);
});

/** Many forms of one user, each with a payment that is not there: the log has them. */
async function recordMany(merchantId: string, userId: string, count: number): Promise<void> {
  await ledger.db.query(
    `insert into user_actions (actor, via, user_id, merchant_id, action, target, address, requested_at, detail)
     select 'user:' || $2::uuid, 'dashboard', $2::uuid, $1, 'payment.create', gen_random_uuid(), '203.0.113.7',
       $3::timestamptz + n * interval '1 second', json_build_object('amount', 1000 * (1 + n % 40), 'provider', 'gopay')
     from generate_series(1, $4::integer) n`,
    [merchantId, userId, AT, count],
  );
}

it('a payment of another merchant is in no shift, whatever the log names', async () => {
  const { merchantId, users } = await newShop(1);
  const other = await newShop(0);
  const { terms } = await applyTransitions(ledger, ['issue', 'pay'], { merchantId: other.merchantId });
  await setCreatedAt(terms.paymentId);
  await record(merchantId, users[0] ?? '', terms.paymentId);
  const { figures, payments } = await readShift(ledger.db, shiftOf(merchantId, users[0] ?? ''));
  expect([figures.created, payments]).toEqual([0, []]);
});

it.each([
  ['which had created the payment, is one of that shift', new Date(TO.getTime() - 1), [1, 0]],
  ['which had created none, is one of the next shift', TO, [0, 1]],
])('a form that was sent again after the end of a shift, %s', async (_, createdAt, expected) => {
  const { merchantId, users } = await newShop(1);
  const [userId = ''] = users;
  const { terms } = await applyTransitions(ledger, ['issue', 'pay'], { merchantId });
  await setCreatedAt(terms.paymentId, createdAt);
  await record(merchantId, userId, terms.paymentId, new Date(TO.getTime() - 1));
  await record(merchantId, userId, terms.paymentId, TO);
  const shift = shiftOf(merchantId, userId);
  const next = { ...shift, from: TO, to: new Date('2026-11-23T00:00:00.000Z') };
  const created = [shift, next].map(async (each) => (await readShift(ledger.db, each)).figures.created);
  expect(await Promise.all(created)).toEqual(expected);
});

it('a shift of too many payments has neither figures nor rows', async () => {
  const { merchantId, users } = await newShop(1);
  const [userId = ''] = users;
  const { terms } = await applyTransitions(ledger, ['issue', 'pay'], { merchantId });
  await setCreatedAt(terms.paymentId);
  await record(merchantId, userId, terms.paymentId);
  await recordMany(merchantId, userId, MAX_SHIFT_PAYMENTS - 1);
  const most = await readShift(ledger.db, shiftOf(merchantId, userId));
  expect([most.figures.isTooLong, most.figures.paid, most.payments.length]).toEqual([false, 1, 1]);
  await record(merchantId, userId, randomUUID());
  const { figures, payments } = await readShift(ledger.db, shiftOf(merchantId, userId));
  expect([figures.isTooLong, figures.created, payments]).toEqual([true, 0, []]);
});

/** Settled payments with their postings and lines: every twentieth is one of the user. */
async function settleMany(merchantId: string, userId: string, count: number): Promise<void> {
  const { policyId, providerAccountId } = ledger.newTerms();
  await withoutIndexes(ledger.db, ['payments', 'ledger_postings', 'balance_transactions'], async (client) => {
    const ofAll = `from generate_series(1, 20 * ${count}) n`;
    const [id, posting] = ["md5('settled' || n)::uuid", '1000000 + 2 * n'];
    await client.query(
      `insert into payments (id, reference_id, merchant_id, fingerprint, payment_method, provider, provider_account_id,
         amount_rupiah, fee_rupiah, total_rupiah, net_rupiah, fee_payer, policy_id, settlement_kind,
         settlement_delay_seconds, status, version, expires_at, created_at, updated_at)
       select ${id}, 'LN' || upper(substr(md5('settled' || n), 1, 16)), $1, 'f', 'qris', 'gopay', $3, 50000, 350, 50000,
         49650, 'merchant', $2, 'automatic', 86400, 'settled', 4, $4, $4, $4 ${ofAll}`,
      [merchantId, policyId, providerAccountId, AT],
    );
    await client.query(
      `insert into ledger_postings (id, payment_id, payment_version, merchant_id, occurred_at) overriding system value
       select ${posting} + step, ${id}, 3 + step, $1, $2 ${ofAll}, generate_series(0, 1) step`,
      [merchantId, AT],
    );
    await client.query(
      `insert into balance_transactions
         (posting_id, merchant_id, kind, amount_rupiah, payment_id, occurred_at, booked_on)
       select ${posting} + 1, $1, 'settlement', 49650, ${id}, $2, '2026-11-21' ${ofAll}`,
      [merchantId, AT],
    );
    await client.query(
      `insert into user_actions (actor, via, user_id, merchant_id, action, target, address, requested_at)
       select 'user:' || $2::uuid, 'dashboard', $2::uuid, $1, 'payment.create', ${id}, '203.0.113.7',
         $3::timestamptz + n * interval '1 second' ${ofAll} where n % 20 = 0`,
      [merchantId, userId, AT],
    );
  });
}

it('a shift of 1,000 payments reads few buffers for each of them, and none for the others', async () => {
  const { merchantId, users } = await newShop(1);
  const userId = users[0] ?? '';
  await settleMany(merchantId, userId, 1_000);
  await ledger.db.query('vacuum analyze user_actions');
  const { db, explained } = explainQueries(ledger.db);
  const { figures, payments } = await readShift(db, shiftOf(merchantId, userId));
  expect(payments).toHaveLength(1_000);
  const { created, netRupiah, inBalanceRupiah, isEqual } = figures;
  expect([created, netRupiah, inBalanceRupiah, isEqual]).toEqual([1_000, 49_650_000, 49_650_000, true]);
  // One for its row of the log, and those of the row and the way down an index: a payment, two postings, two lines.
  const tooMany = explained.filter(({ buffers }) => buffers > 20 * payments.length);
  expect([explained.length, tooMany.map(({ planMode, buffers, plan }) => ({ planMode, buffers, plan }))]).toEqual([
    2,
    [],
  ]);
});

describe('what a user usually enters', () => {
  it('the amounts are the most frequent of the newest payments; the provider is the newest', async () => {
    const { merchantId, users } = await newShop(2);
    const [user = '', other = ''] = users;
    const amounts = [7_000, 50_000, 50_000, 5_000, 5_000, 5_000, 90_000];
    for (const [index, amount] of amounts.entries()) {
      const at = new Date(AT.getTime() + index * 1_000);
      const order = '"amount":1,"provider":"none"';
      await record(merchantId, user, randomUUID(), at, {
        amount,
        provider: index === 6 ? 'shopeepay' : 'gopay',
        order,
      });
    }
    await record(merchantId, other, randomUUID(), AT, { amount: 1_000, provider: 'gopay' });
    await record(merchantId, user, randomUUID(), new Date('2020-01-01T00:00:00Z'), { amount: 20_000_000 });
    const found = await findCreationHabits(ledger.db, { merchantId, userId: user }, 3);
    expect(found).toEqual({ amounts: [5_000, 50_000, 90_000], provider: 'shopeepay' });
  });

  it('a new user has no amounts and no provider', async () => {
    const { merchantId, users } = await newShop(1);
    const found = await findCreationHabits(ledger.db, { merchantId, userId: users[0] ?? '' }, 6);
    expect(found).toEqual({ amounts: [], provider: null });
  });
});

it('the statements of the counter read few buffers, however much the user has created before', async () => {
  const { merchantId, users } = await newShop(1);
  const userId = users[0] ?? '';
  await recordMany(merchantId, userId, 30_000);
  await ledger.db.query('vacuum analyze user_actions');
  const { db, explained } = explainQueries(ledger.db);
  const since = new Date(AT.getTime() + 29_500 * 1_000);
  await findCreationHabits(db, { merchantId, userId }, 6);
  await listOwnPayments(db, { merchantId, userId, since }, 5);
  const plans = explained.map(({ statement, planMode, buffers, plan }) => ({ statement, planMode, buffers, plan }));
  expect(plans).toHaveLength(4);
  expect(plans.filter(({ buffers }) => buffers > 230)).toEqual([]);
});

it('a form that was recorded twice is one payment of the day', async () => {
  const { merchantId, users } = await newShop(1);
  const [userId = ''] = users;
  const { terms } = await applyTransitions(ledger, ['issue', 'pay'], { merchantId });
  await record(merchantId, userId, terms.paymentId);
  await record(merchantId, userId, terms.paymentId);
  const own = { merchantId, userId, since: AT };
  expect(await sumOwnPayments(ledger.db, own, ['paid'])).toEqual({ payments: 1, totalRupiah: terms.totalRupiah });
  expect((await listOwnPayments(ledger.db, own, 5)).map(({ id }) => id)).toEqual([terms.paymentId]);
});
