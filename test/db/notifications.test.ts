import type { PoolClient } from 'pg';
import {
  claimOpenNews,
  closeNotifications,
  newestNotification,
  noteNews,
  recordTold,
  storeNotification,
} from '../../src/db/notifications';
import {
  keepLatePayment,
  receiveLatePayment,
  refundLatePayment,
  submitLateRefund,
} from '../../src/db/transitions/late-payment';
import type { PaymentTerms } from '../../src/domain/payment';
import { COVERED_BY, type ReportedStatus } from '../../src/domain/provider-status';
import { T0, walkAlong } from '../operator/walk';
import { openLedger, type Ledgered } from '../support/payments';

let ledger: Ledgered;
let db: PoolClient;
beforeAll(async () => {
  ledger = await openLedger();
});
afterAll(() => ledger.close());

// Within a transaction the time stands still.
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
  return storeNotification(db, { ...notification, rawBody: Buffer.from(`${referenceId} ${reportedStatus} ${text}`) });
}

/** It fell due, so long after it was received. */
async function fallDue({ referenceId }: Pick<PaymentTerms, 'referenceId'>, age = '6 seconds', told = 0): Promise<void> {
  await db.query(
    `update provider_notifications set received_at = now() - $2::interval,
       tell_again_at = now() - interval '1 second', told = $3 where reference_id = $1`,
    [referenceId, age, told],
  );
}

async function open({ referenceId }: Pick<PaymentTerms, 'referenceId'>) {
  const { rows } = await db.query(
    `select reported_status as reported, told, extract(epoch from tell_again_at - now())::integer as seconds
     from provider_notifications where reference_id = $1 and closed_at is null order by id`,
    [referenceId],
  );
  return rows;
}

async function tellDue(): Promise<void> {
  for (const { notificationIds } of await claimOpenNews(db, 10)) await recordTold(db, notificationIds);
}

it.each([
  ['5 seconds', 0, 5],
  ['50 minutes', 0, 10],
  ['80 seconds', 2, 40],
  ['80 seconds', 4, 80],
  ['30 days', 2_000, 3_600],
  ['-20 seconds', 0, 5],
])(
  'news that is open for %s and was told %d times before is told, and next after %d s',
  async (age, told, nextSeconds) => {
    const terms = ledger.newTerms();
    await noteNews(db, { accountId: terms.providerAccountId, referenceId: terms.referenceId });
    await fallDue(terms, age, told);
    const [news, ...more] = await claimOpenNews(db, 10);
    expect([news, more]).toMatchObject([{ referenceId: terms.referenceId }, []]);
    expect(await claimOpenNews(db, 10)).toEqual([]);
    await recordTold(db, news?.notificationIds ?? []);
    expect(await open(terms)).toEqual([{ reported: null, told: told + 1, seconds: nextSeconds }]);
  },
);

it('news that could not be told is due again after 10 s, however long that has gone on', async () => {
  const terms = ledger.newTerms();
  await notify(terms, 'paid');
  await fallDue(terms, '2 hours', 3);
  expect(await claimOpenNews(db, 10)).toHaveLength(1);
  expect(await open(terms)).toEqual([{ reported: 'paid', told: 3, seconds: 10 }]);
});

it.each(['refunded', 'kept'])(
  'news of a late payment that waits for the bank is told rarely, and again when it is %s',
  async (end) => {
    const { terms } = await walkAlong(ledger, ['issue', 'expire']);
    await receiveLatePayment(db, terms, LATE, T0);
    await submitLateRefund(db, terms.paymentId, T0);
    await notify(terms, 'paid');
    await notify(terms, 'refunded');
    await fallDue(terms);
    await tellDue();
    expect((await open(terms)).map(({ seconds }) => seconds)).toEqual([3_600, 3_600]);

    if (end === 'refunded') await refundLatePayment(db, terms.paymentId, T0, '7');
    else await keepLatePayment(db, terms.paymentId, T0, 'no');
    const left = end === 'refunded' ? ['paid'] : ['paid', 'refunded'];
    expect(await open(terms)).toMatchObject(left.map((reported) => ({ reported, seconds: 0 })));
  },
);

it('news is what is stored for the first time, and not known already', async () => {
  const { terms } = await walkAlong(ledger, ['issue', 'pay']);
  const { paymentId } = terms;
  expect(await notify(terms, 'refunded')).toEqual({ isNews: true, paymentId });
  expect(await notify(terms, 'refunded')).toEqual({ isNews: false, paymentId });
  expect(await notify(terms, 'refunded', 'another text')).toEqual({ isNews: true, paymentId });
  expect(await notify(terms, 'paid')).toEqual({ isNews: false, paymentId });
  expect(await notify(ledger.newTerms(), 'paid')).toEqual({ isNews: false, paymentId: null });
});

describe('a status query', () => {
  const ALL = ['pending', 'paid', 'expired', 'cancelled', 'denied', 'refunded', null] as const;

  it.each([
    ['an unknown order', [], ALL],
    ['expired', COVERED_BY.expired, ['paid', 'cancelled', 'denied', 'refunded', null]],
    ['paid', COVERED_BY.paid, ['refunded']],
    ['refunded', COVERED_BY.refunded, []],
  ] as const)('that reports %s closes what that covers', async (_name, covered, left) => {
    const terms = ledger.newTerms();
    for (const reported of ALL) await notify(terms, reported);
    await closeNotifications(db, terms, await newestNotification(db, terms), covered);
    expect((await open(terms)).map(({ reported }) => reported)).toEqual(left);
  });

  it('closes all that was received more than two minutes ago', async () => {
    const terms = ledger.newTerms();
    await notify(terms, 'paid');
    await fallDue(terms, '121 seconds');
    await closeNotifications(db, terms, await newestNotification(db, terms), []);
    expect(await open(terms)).toEqual([]);
  });

  it('closes nothing that came after it, nor anything of another account', async () => {
    const terms = ledger.newTerms();
    await notify(terms, 'paid');
    const heard = await newestNotification(db, terms);
    await notify(terms, 'paid', 'another text');
    const elsewhere = { ...terms, providerAccountId: terms.paymentId };
    expect(await newestNotification(db, elsewhere)).toBeNull();
    await closeNotifications(db, elsewhere, heard, COVERED_BY.refunded);
    expect(await open(terms)).toHaveLength(2);
    await closeNotifications(db, terms, heard, COVERED_BY.refunded);
    expect(await open(terms)).toHaveLength(1);
  });
});
