import type { PoolClient } from 'pg';
import {
  claimDueNotifications,
  closeNotifications,
  countContradictedPayments,
  newestNotification,
  recordNotified,
  scheduleStatusQuery,
  storeNotification,
} from '../../../src/db/payments/notification-inbox';
import {
  recordLatePayment,
  refundLatePayment,
  requireManualReview,
  submitLateRefund,
} from '../../../src/db/transitions/late-payment-transitions';
import type { PaymentTerms } from '../../../src/domain/payment';
import { COVERED_BY, type ReportedStatus } from '../../../src/domain/provider-status';
import { setRecorder } from '../../../src/observability/metrics';
import { applyTransitions, T0 } from '../../services/ledger/transition-path';
import { createTestLedger, type TestLedger } from '../../support/payments';

let ledger: TestLedger;
let db: PoolClient;
beforeAll(async () => {
  ledger = await createTestLedger();
});
afterAll(() => ledger.close());

// In a transaction `now()` is constant.
beforeEach(async () => {
  db = await ledger.db.connect();
  await db.query('begin');
});
afterEach(async () => {
  await db.query('rollback');
  db.release();
});

const LATE = { totalRupiah: 50_000, providerTransactionId: 'T', paidAt: T0 };

function notify({ providerAccountId, referenceId }: PaymentTerms, reportedStatus: ReportedStatus, text = 'a') {
  const notification = { accountId: providerAccountId, referenceId, reportedStatus };
  const dedupeKey = `${referenceId} ${reportedStatus} ${text}`;
  return storeNotification(db, { ...notification, dedupeKey, signed: referenceId, rawBody: Buffer.from(dedupeKey) });
}

/** Makes the notifications of an order due, this long after they were received. */
async function makeDue(
  { referenceId }: Pick<PaymentTerms, 'referenceId'>,
  age = '6 seconds',
  notifyAttempts = 0,
): Promise<void> {
  await db.query(
    `update provider_notifications set received_at = now() - $2::interval,
       next_notify_at = now() - interval '1 second', notify_attempts = $3 where reference_id = $1`,
    [referenceId, age, notifyAttempts],
  );
}

async function open({ referenceId }: Pick<PaymentTerms, 'referenceId'>) {
  const { rows } = await db.query(
    `select reported_status as reported, notify_attempts as "notifyAttempts", 
       extract(epoch from next_notify_at - now())::integer as seconds
     from provider_notifications where reference_id = $1 and closed_at is null order by id`,
    [referenceId],
  );
  return rows;
}

async function notifyDue(): Promise<void> {
  for (const { notificationIds } of await claimDueNotifications(db, 10)) await recordNotified(db, notificationIds);
}

it.each([
  ['5 seconds', 0, 5],
  ['50 minutes', 0, 10],
  ['80 seconds', 2, 40],
  ['80 seconds', 4, 40],
  ['30 days', 2_000, 3_600],
  ['-20 seconds', 0, 5],
])(
  'a notification open for %s with %d earlier attempts is claimed once, and due again after %d s',
  async (age, notifyAttempts, nextSeconds) => {
    const terms = ledger.newTerms();
    await scheduleStatusQuery(db, { accountId: terms.providerAccountId, referenceId: terms.referenceId });
    await makeDue(terms, age, notifyAttempts);
    const [notification, ...more] = await claimDueNotifications(db, 10);
    expect([notification, more]).toMatchObject([{ referenceId: terms.referenceId }, []]);
    expect(await claimDueNotifications(db, 10)).toEqual([]);
    await recordNotified(db, notification?.notificationIds ?? []);
    expect(await open(terms)).toEqual([{ reported: null, notifyAttempts: notifyAttempts + 1, seconds: nextSeconds }]);
  },
);

it('a claimed notification whose attempt is not recorded is due again after 10 s, at any age', async () => {
  const terms = ledger.newTerms();
  await notify(terms, 'paid');
  await makeDue(terms, '2 hours', 3);
  expect(await claimDueNotifications(db, 10)).toHaveLength(1);
  expect(await open(terms)).toEqual([{ reported: 'paid', notifyAttempts: 3, seconds: 10 }]);
});

it.each(['refunded', 'manual_review'])(
  'a notification of a late payment that waits for the bank is due after an hour, or when it becomes %s',
  async (status) => {
    const { terms } = await applyTransitions(ledger, ['issue', 'expire']);
    await recordLatePayment(db, terms, LATE, T0);
    await submitLateRefund(db, terms.paymentId, T0);
    await notify(terms, 'paid');
    await notify(terms, 'refunded');
    await makeDue(terms);
    await notifyDue();
    expect((await open(terms)).map(({ seconds }) => seconds)).toEqual([3_600, 3_600]);

    if (status === 'refunded') await refundLatePayment(db, terms.paymentId, T0, '7');
    else await requireManualReview(db, terms.paymentId, T0, 'no');
    const left = status === 'refunded' ? ['paid'] : ['paid', 'refunded'];
    expect(await open(terms)).toMatchObject(left.map((reported) => ({ reported, seconds: 0 })));
  },
);

it('a notification needs a status query if it is new and the payment does not reflect it', async () => {
  const { terms } = await applyTransitions(ledger, ['issue', 'pay']);
  const { paymentId } = terms;
  expect(await notify(terms, 'refunded')).toEqual({ needsQuery: true, paymentId });
  expect(await notify(terms, 'refunded')).toEqual({ needsQuery: false, paymentId });
  expect(await notify(terms, 'refunded', 'another text')).toEqual({ needsQuery: true, paymentId });
  expect(await notify(terms, 'paid')).toEqual({ needsQuery: false, paymentId });
  expect(await notify(ledger.newTerms(), 'paid')).toEqual({ needsQuery: false, paymentId: null });
});

it('a notification of our own is stored once for the same bytes, and again for others', async () => {
  const { providerAccountId: accountId, referenceId } = ledger.newTerms();
  const note = { accountId, referenceId, reportedStatus: null, dedupeKey: null, signed: null };
  for (const text of ['a', 'a', 'b']) await storeNotification(db, { ...note, rawBody: Buffer.from(text) });
  expect(await open({ referenceId })).toHaveLength(2);
});

describe('a status query', () => {
  const ALL = ['pending', 'paid', 'expired', 'cancelled', 'denied', 'refunded', null] as const;

  it.each([
    ['an unknown order', [], ALL],
    ['expired', COVERED_BY.expired, ['paid', 'cancelled', 'denied', 'refunded', null]],
    ['paid', COVERED_BY.paid, ['refunded']],
    ['refunded', COVERED_BY.refunded, []],
  ] as const)('a report of %s closes the notifications that it covers', async (_name, covered, left) => {
    const terms = ledger.newTerms();
    for (const reported of ALL) await notify(terms, reported);
    await closeNotifications(db, terms, await newestNotification(db, terms), covered);
    expect((await open(terms)).map(({ reported }) => reported)).toEqual(left);
  });

  it('closes every notification received more than two minutes ago', async () => {
    const terms = ledger.newTerms();
    await notify(terms, 'paid');
    await makeDue(terms, '121 seconds');
    await closeNotifications(db, terms, await newestNotification(db, terms), []);
    expect(await open(terms)).toEqual([]);
  });

  it('closes no later notification and none of another provider account', async () => {
    const terms = ledger.newTerms();
    await notify(terms, 'paid');
    const latest = await newestNotification(db, terms);
    await notify(terms, 'paid', 'another text');
    const elsewhere = { ...terms, providerAccountId: terms.paymentId };
    expect(await newestNotification(db, elsewhere)).toBeNull();
    await closeNotifications(db, elsewhere, latest, COVERED_BY.refunded);
    expect(await open(terms)).toHaveLength(2);
    await closeNotifications(db, terms, latest, COVERED_BY.refunded);
    expect(await open(terms)).toHaveLength(1);
  });

  it.each([
    ['a pending order contradicts a payment that was reported a minute ago', 'paid', '61 seconds', 1],
    ['a payment that was reported just now may not be in the status yet', 'paid', '59 seconds', 0],
    ['a report that moves no money contradicts nothing', 'cancelled', '1 hour', 0],
  ] as const)('%s', async (_name, reported, age, count) => {
    const terms = ledger.newTerms();
    await notify(terms, reported);
    await makeDue(terms, age);
    expect(await contradictedBy(() => countContradictedPayments(db, terms))).toEqual(count === 0 ? [] : [['paid', 1]]);
    expect(await open(terms)).toHaveLength(1);
  });

  it.each([
    ['expired', [['paid', 1]]],
    ['paid', []],
  ] as const)('a status of %s after two minutes contradicts what it does not cover', async (status, contradicted) => {
    const terms = ledger.newTerms();
    for (const reported of ['paid', 'refunded', 'cancelled'] as const) await notify(terms, reported);
    await makeDue(terms, '121 seconds');
    const newest = await newestNotification(db, terms);
    const close = () => closeNotifications(db, terms, newest, COVERED_BY[status]);
    expect(await contradictedBy(close)).toEqual(contradicted);
    expect(await open(terms)).toEqual([]);
  });
});

/** What the metric of contradicted notifications has counted, by the reported status. */
async function contradictedBy(query: () => Promise<void>): Promise<[string | undefined, number][]> {
  const counted: [string | undefined, number][] = [];
  setRecorder({
    increment: (_, { reported_status: status }, by) => counted.push([status, by]),
    observe: () => undefined,
  });
  await query();
  return counted;
}
