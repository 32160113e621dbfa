import { randomUUID } from 'node:crypto';
import type { TransitionInput, TransitionResult } from '../../../src/db/transitions/apply-payment-transition';
import { transitionWriters, type TransitionDetails } from '../../../src/db/transitions/payment-transitions';
import type { PaymentTerms } from '../../../src/domain/payment';
import { PAYMENT_TRANSITIONS, type PaymentStatus, type TransitionName } from '../../../src/domain/payment-transitions';
import { PROVIDER_PAYMENT_STATUSES } from '../../../src/domain/provider-status';
import { createTestLedger, creation, type TestLedger } from '../../support/payments';

let ledger: TestLedger;
beforeAll(async () => {
  ledger = await createTestLedger();
});
afterAll(() => ledger.close());

const T0 = new Date('2026-11-21T08:00:00.000Z');
const later = (seconds: number) => new Date(T0.getTime() + seconds * 1_000);

type Writer = Exclude<TransitionName, 'create'>;

/** Inputs of all transitions; each takes those that its statement has. */
const DETAILS = {
  qrisPayload: '000201',
  providerTransactionId: 'tx-1',
  paidAt: later(58),
  reason: 'denied by the provider',
  holdSeconds: 60,
  requestedBy: 'lunas' as const,
  providerReference: '7',
} as const satisfies Partial<TransitionDetails>;

function write(name: Writer, step: TransitionInput): Promise<TransitionResult> {
  const refundNumber = name === 'retry_refund' ? 2 : 1;
  const refundKey = `${step.paymentId}-R${refundNumber}`;
  return transitionWriters[name](ledger.context, { ...DETAILS, ...step, refundNumber, refundKey });
}

const ISSUED: readonly Writer[] = ['issue'];
const PAID: readonly Writer[] = ['issue', 'pay'];
const HELD: readonly Writer[] = [...PAID, 'request_refund'];
const SUBMITTED: readonly Writer[] = [...HELD, 'submit_refund'];
const REJECTED: readonly Writer[] = [...SUBMITTED, 'fail_refund'];

/** The transitions before each writer. */
const BEFORE: Record<Writer, readonly Writer[]> = {
  issue: [],
  fail_creation: [],
  pay: ISSUED,
  expire: ISSUED,
  cancel: ISSUED,
  fail: ISSUED,
  settle: PAID,
  request_refund: PAID,
  submit_refund: HELD,
  cancel_refund: HELD,
  confirm_refund: SUBMITTED,
  fail_refund: SUBMITTED,
  retry_refund: REJECTED,
  confirm_failed_refund: REJECTED,
  resolve_refund_as_refunded: REJECTED,
  resolve_refund_as_paid: REJECTED,
};
const WRITER_NAMES = Object.keys(BEFORE).filter((name): name is Writer => name in BEFORE);

async function paymentAfter(path: readonly Writer[], changes: Partial<PaymentTerms> = {}): Promise<TransitionInput> {
  const terms = ledger.newTerms(changes);
  let { state } = await transitionWriters.create(ledger.context, creation(terms, T0));
  for (const writer of path) {
    const step = { paymentId: terms.paymentId, version: state.version, at: T0 };
    const written = await write(writer, step);
    expect(written.outcome).toBe('applied');
    ({ state } = written);
  }
  return { paymentId: terms.paymentId, version: state.version, at: later(60) };
}

function statusAfter(path: readonly Writer[]): PaymentStatus {
  const last = path.at(-1);
  return last === undefined ? 'created' : PAYMENT_TRANSITIONS[last].to;
}

/** All rows of a payment, to compare before and after. */
async function recorded(paymentId: string) {
  const all = async (text: string) => (await ledger.db.query(text, [paymentId])).rows;
  return {
    payment: await all('select * from payments where id = $1'),
    transitions: await all('select * from payment_transitions where payment_id = $1 order by version'),
    entries: await all(
      `select p.payment_version, e.account, e.side, e.amount_rupiah from ledger_postings p
       join ledger_entries e on e.posting_id = p.id where p.payment_id = $1 order by p.payment_version, e.line`,
    ),
    events: await all('select * from webhook_events where payment_id = $1 order by payment_version'),
    refunds: await all('select * from refunds where payment_id = $1 order by number'),
    deliveries: await all('select * from webhook_deliveries where payment_id = $1 order by payment_version'),
  };
}

async function addEndpoint(merchantId: string, events: string[] | null, status = 'enabled'): Promise<string> {
  const id = randomUUID();
  await ledger.db.query(
    `insert into webhook_endpoints (id, merchant_id, url, events, status)
     values ($1, $2, 'http://127.0.0.1:9', $3, $4)`,
    [id, merchantId, events, status],
  );
  return id;
}

describe.each(WRITER_NAMES)('%s', (name) => {
  const rule = PAYMENT_TRANSITIONS[name];

  it('writes status, history, posting and event together', async () => {
    const step = await paymentAfter(BEFORE[name]);
    expect(await write(name, step)).toMatchObject({
      outcome: 'applied',
      state: { status: rule.to, version: step.version + 1 },
    });

    const after = await recorded(step.paymentId);
    expect(after.payment[0]).toMatchObject({ status: rule.to, version: step.version + 1, updated_at: step.at });
    expect(after.transitions.at(-1)).toMatchObject({
      name,
      from_status: rule.from,
      to_status: rule.to,
      version: step.version + 1,
      occurred_at: step.at,
      actor: 'workflow',
    });
    const amounts = { total: 50_000, net: 49_650, fee: 350, feeNet: 350, vat: 0 };
    expect(after.entries.filter((entry) => entry.payment_version === step.version + 1)).toEqual(
      rule.posting
        .filter((line) => amounts[line.amount] > 0)
        .map((line) => ({
          payment_version: step.version + 1,
          account: line.account,
          side: line.side,
          amount_rupiah: amounts[line.amount],
        })),
    );
    const newEvents = after.events.filter((event) => event.payment_version === step.version + 1);
    expect(newEvents.map((event) => event.event)).toEqual(rule.to === rule.from ? [] : [`payment.${rule.to}`]);
    for (const { body } of newEvents) {
      expect(JSON.parse(body)).toMatchObject({ status: rule.to, updated_at: step.at.toISOString() });
    }
  });

  it('writes nothing at a repetition, and returns the state of the first execution', async () => {
    const step = await paymentAfter(BEFORE[name]);
    await write(name, step);
    const before = await recorded(step.paymentId);
    expect(await write(name, { ...step, at: later(999) })).toMatchObject({
      outcome: 'repeated',
      state: { status: rule.to, version: step.version + 1 },
    });
    expect(await recorded(step.paymentId)).toEqual(before);
  });

  it('the transition is applied once by ten concurrent writers', async () => {
    const step = await paymentAfter(BEFORE[name]);
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => write(name, step)));
    expect(outcomes.filter(({ outcome }) => outcome === 'applied')).toHaveLength(1);
    expect(outcomes.every(({ state }) => state.status === rule.to && state.version === step.version + 1)).toBe(true);
  });

  it('changes nothing from another version or status, and returns the current state', async () => {
    const step = await paymentAfter(BEFORE[name]);
    const before = await recorded(step.paymentId);
    const superseded = { outcome: 'superseded', state: { status: rule.from, version: step.version } };
    expect(await write(name, { ...step, version: step.version - 1 })).toMatchObject(superseded);
    expect(await write(name, { ...step, version: step.version + 1 })).toMatchObject(superseded);
    expect(await recorded(step.paymentId)).toEqual(before);

    const elsewhere = [[], ISSUED, PAID, HELD, REJECTED].filter((path) => statusAfter(path) !== rule.from);
    for (const path of elsewhere) {
      expect((await write(name, await paymentAfter(path))).outcome).toBe('superseded');
    }
  });
});

describe('create', () => {
  it('writes the payment as created, with its captured terms, once', async () => {
    const terms = ledger.newTerms({ feePayer: 'buyer', totalRupiah: 50_350, netRupiah: 50_000 });
    const applied = { outcome: 'applied', state: { status: 'created', version: 1 } };
    expect(await transitionWriters.create(ledger.context, creation(terms, T0))).toEqual(applied);
    const before = await recorded(terms.paymentId);
    expect(before.payment[0]).toMatchObject({
      reference_id: terms.referenceId,
      total_rupiah: 50_350,
      created_at: T0,
      expires_at: later(900),
      currency: 'IDR',
    });
    expect(await transitionWriters.create(ledger.context, creation(terms, later(5)))).toEqual({
      ...applied,
      outcome: 'repeated',
    });
    expect(await recorded(terms.paymentId)).toEqual(before);
  });
});

describe('events', () => {
  it('events have exactly the body of the contract', async () => {
    const terms = ledger.newTerms();
    await transitionWriters.create(ledger.context, creation(terms, T0));
    const { events } = await recorded(terms.paymentId);
    expect(events[0].body).toBe(
      JSON.stringify({
        id: terms.paymentId,
        event: 'payment.created',
        reference_id: terms.referenceId,
        merchant_reference_id: 'ORDER-1',
        status: 'created',
        environment: 'sandbox',
        amount: 50_000,
        fee_amount: 350,
        net_amount: 49_650,
        total_amount: 50_000,
        currency: 'IDR',
        payment_method: 'qris',
        provider: 'gopay',
        created_at: '2026-11-21T08:00:00.000Z',
        updated_at: '2026-11-21T08:00:00.000Z',
      }),
    );
  });

  it('events have different timestamps: updated_at increases by at least a millisecond', async () => {
    const step = await paymentAfter(ISSUED);
    const { events } = await recorded(step.paymentId);
    expect(events.map(({ body }) => JSON.parse(body).updated_at)).toEqual([
      '2026-11-21T08:00:00.000Z',
      '2026-11-21T08:00:00.001Z',
    ]);
  });

  it('events have a delivery for each subscribed endpoint, dead if the endpoint is disabled', async () => {
    const merchantId = randomUUID();
    await ledger.db.query("insert into merchants (id, name) values ($1, 'Warung')", [merchantId]);
    const all = await addEndpoint(merchantId, null);
    const onlyPaid = await addEndpoint(merchantId, ['payment.paid']);
    const off = await addEndpoint(merchantId, null, 'disabled');
    let woken = 0;
    const context = { ...ledger.context, onDeliveries: () => (woken += 1) };

    const terms = ledger.newTerms({ merchantId });
    await transitionWriters.create(context, creation(terms, T0));
    const { deliveries } = await recorded(terms.paymentId);
    const found = deliveries.map(({ endpoint_id, status, dead_reason }) => [endpoint_id, status, dead_reason]);
    expect(found).toHaveLength(2);
    expect(found).toEqual(
      expect.arrayContaining([
        [all, 'pending', null],
        [off, 'dead', 'endpoint_disabled'],
      ]),
    );
    expect(found.some(([endpoint]) => endpoint === onlyPaid)).toBe(false);
    expect(woken).toBe(1);
  });
});

const OTHER_ACCOUNT = randomUUID();

describe.each([
  ['pay', ['pending', 'paid']],
  ['expire', ['pending', 'expired']],
  ['cancel', ['pending', 'cancelled']],
  ['fail', ['pending', 'denied']],
  ['confirm_refund', ['pending', 'paid', 'refunded']],
  ['fail_refund', ['pending', 'paid']],
  ['confirm_failed_refund', ['pending', 'paid', 'refunded']],
  ['resolve_refund_as_refunded', ['pending', 'paid']],
  ['resolve_refund_as_paid', ['pending', 'paid']],
] as const)('%s', (name, reflected) => {
  it(`closes the notifications of its order that report ${reflected.join(', ')}, and no others`, async () => {
    const step = await paymentAfter(BEFORE[name]);
    const { payment } = await recorded(step.paymentId);
    const { reference_id: referenceId, provider_account_id: accountId } = payment[0];
    await ledger.db.query(
      `insert into provider_accounts select (jsonb_populate_record(account, jsonb_build_object('id', $2::uuid))).*
       from provider_accounts account where id = $1 on conflict do nothing`,
      [accountId, OTHER_ACCOUNT],
    );
    await ledger.db.query(
      `insert into provider_notifications (provider_account_id, reference_id, body_sha256, body, reported_status)
       select account, $3, sha256(convert_to($3 || coalesce(reported, 'unknown'), 'UTF8')), '{}', reported
       from unnest(array[$1, $2]::uuid[]) account, unnest($4::text[]) reported`,
      [accountId, OTHER_ACCOUNT, referenceId, [...PROVIDER_PAYMENT_STATUSES, null]],
    );
    await write(name, step);
    const { rows: closed } = await ledger.db.query(
      `select provider_account_id as account, reported_status as reported from provider_notifications
       where reference_id = $1 and closed_at is not null order by id`,
      [referenceId],
    );
    expect(closed).toEqual(reflected.map((reported) => ({ account: accountId, reported })));
  });
});

describe('pay', () => {
  it('records the time of payment and the settlement date', async () => {
    const step = await paymentAfter(ISSUED);
    await write('pay', step);
    const { payment } = await recorded(step.paymentId);
    expect(payment[0]).toMatchObject({ paid_at: later(58), settlement_due_at: later(60 + 86_400) });
  });

  it('a payment has no paid_at before created_at, although the provider counts in whole seconds', async () => {
    const step = await paymentAfter(ISSUED);
    await transitionWriters.pay(ledger.context, { ...step, paidAt: later(-0.4) });
    expect((await recorded(step.paymentId)).payment[0].paid_at).toEqual(T0);
  });

  it('posts no line of zero rupiah', async () => {
    const step = await paymentAfter(PAID, { feeRupiah: 0, netRupiah: 50_000 });
    const { entries } = await recorded(step.paymentId);
    expect(entries.map(({ account }) => account)).toEqual(['provider_receivable', 'merchant_pending']);
  });
});

describe('a refund', () => {
  const refundOf = async (step: TransitionInput) => (await recorded(step.paymentId)).refunds.at(-1);

  it('a refund is a record with amount, key, request time and end of the hold', async () => {
    const step = await paymentAfter(PAID);
    const { state } = await write('request_refund', step);
    expect(state.refund).toEqual({ number: 1, submitAtMs: later(120).getTime(), status: 'held' });
    expect(await refundOf(step)).toMatchObject({
      number: 1,
      refund_key: `${step.paymentId}-R1`,
      amount_rupiah: 50_000,
      status: 'held',
      requested_at: step.at,
      submit_at: later(120),
      submitted_at: null,
      finished_at: null,
    });
  });

  it.each([
    ['confirm_refund', { status: 'confirmed', provider_reference: '7', failure_reason: null }],
    ['fail_refund', { status: 'rejected', provider_reference: null, failure_reason: DETAILS.reason }],
    ['confirm_failed_refund', { status: 'confirmed', provider_reference: '7' }],
    ['resolve_refund_as_refunded', { status: 'confirmed', provider_reference: null }],
    ['cancel_refund', { status: 'cancelled', submitted_at: null }],
  ] as const)('records its result: %s', async (name, record) => {
    const step = await paymentAfter(BEFORE[name]);
    await write(name, step);
    expect(await refundOf(step)).toMatchObject({ ...record, finished_at: step.at });
  });

  it('a cancelled refund does not change paid_at and settlement_due_at', async () => {
    const paid = await paymentAfter(PAID);
    const [before] = (await recorded(paid.paymentId)).payment;
    const { state } = await write('request_refund', paid);
    await write('cancel_refund', { ...paid, version: state.version });
    const [after] = (await recorded(paid.paymentId)).payment;
    expect(after).toMatchObject({ paid_at: before.paid_at, settlement_due_at: before.settlement_due_at });
  });

  it('a refund cannot be cancelled after its submission: a constraint rejects the statement', async () => {
    const step = await paymentAfter(SUBMITTED);
    await expect(write('cancel_refund', step)).rejects.toThrow(/check constraint/);
    expect((await recorded(step.paymentId)).payment[0]).toMatchObject({ status: 'refund_processing' });
  });

  it('a refund is either cancelled or submitted by concurrent statements, never both', async () => {
    const winners = new Set<string>();
    for (let repetition = 0; repetition < 40; repetition += 1) {
      const step = await paymentAfter(HELD);
      const outcomes = await Promise.all(
        (repetition % 2 === 0
          ? (['submit_refund', 'cancel_refund'] as const)
          : (['cancel_refund', 'submit_refund'] as const)
        ).map(async (name) => [name, (await write(name, step)).outcome] as const),
      );
      const applied = outcomes.filter(([, outcome]) => outcome === 'applied').map(([name]) => name);
      expect(applied).toHaveLength(1);
      winners.add(applied.join());
    }
    expect(winners.size).toBe(2);
  });

  it('leaves the available balance at −fee and the provider receivable at 0', async () => {
    const step = await paymentAfter(SUBMITTED);
    await write('confirm_refund', step);
    const balances: Record<string, number> = {};
    for (const { account, side, amount_rupiah } of (await recorded(step.paymentId)).entries) {
      balances[account] = (balances[account] ?? 0) + (side === 'credit' ? amount_rupiah : -amount_rupiah);
    }
    expect(balances).toEqual({
      provider_receivable: 0,
      merchant_pending: 0,
      merchant_available: -350,
      fee_revenue: 350,
    });
  });
});

describe('the schema', () => {
  it.each([
    ['update ledger_entries set amount_rupiah = amount_rupiah + 1'],
    ['delete from ledger_entries'],
    ['delete from ledger_postings'],
    ['update payment_transitions set to_status = from_status'],
    ['update webhook_events set body = body'],
    ['truncate ledger_entries'],
    ['truncate payment_transitions cascade'],
  ])('rejects: %s', async (statement) => {
    await paymentAfter(PAID);
    await expect(ledger.db.query(statement)).rejects.toThrow(/append-only/);
  });

  it('rejects a posting that is unbalanced, has no entries, or repeats a transition', async () => {
    const step = await paymentAfter(ISSUED);
    const posting = `insert into ledger_postings (payment_id, payment_version, merchant_id, occurred_at)
      values ($1, $2, $3, now()) returning id`;
    const values = [step.paymentId, step.version, ledger.merchantId];
    await expect(ledger.db.query(posting, values)).rejects.toThrow(/no entries/);
    await expect(
      ledger.db.query(
        `with posting as (${posting})
         insert into ledger_entries (posting_id, line, account, side, amount_rupiah)
         select id, 1, 'suspense', 'debit', 5 from posting`,
        values,
      ),
    ).rejects.toThrow(/off by 5 rupiah/);
    await ledger.db.query(
      `with posting as (${posting})
       insert into ledger_entries (posting_id, line, account, side, amount_rupiah)
       select id, line, 'suspense', side, 5 from posting, (values (1, 'debit'), (2, 'credit')) line (line, side)`,
      values,
    );
    await expect(
      ledger.db.query(
        `insert into ledger_entries select id, line, 'suspense', side, 5
         from ledger_postings, (values (3, 'debit'), (4, 'credit')) line (line, side)
         where payment_id = $1 and payment_version = $2`,
        values.slice(0, 2),
      ),
    ).rejects.toThrow(/is not of this transaction: it gets no more entries/);

    const paid = await paymentAfter(PAID);
    await expect(ledger.db.query(posting, [paid.paymentId, paid.version, ledger.merchantId])).rejects.toThrow(/unique/);
  });
});
