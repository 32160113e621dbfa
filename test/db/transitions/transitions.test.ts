import { randomUUID } from 'node:crypto';
import { acceptPayment } from '../../../src/db/transitions/accept-payment';
import type { Step, TransitionContext, TransitionOutcome } from '../../../src/db/transitions/apply-transition';
import { cancelPayment } from '../../../src/db/transitions/cancel-payment';
import { denyPayment } from '../../../src/db/transitions/deny-payment';
import { expirePayment } from '../../../src/db/transitions/expire-payment';
import { issuePayment } from '../../../src/db/transitions/issue-payment';
import { payPayment } from '../../../src/db/transitions/pay-payment';
import { rejectPayment } from '../../../src/db/transitions/reject-payment';
import { settlePayment } from '../../../src/db/transitions/settle-payment';
import type { PaymentTerms } from '../../../src/domain/payment';
import { PAYMENT_TRANSITIONS, type PaymentStatus } from '../../../src/domain/payment-transitions';
import { acceptance, openLedger, type Ledgered } from '../../support/payments';

let ledger: Ledgered;
beforeAll(async () => {
  ledger = await openLedger();
});
afterAll(() => ledger.close());

const T0 = new Date('2026-11-21T08:00:00.000Z');
const later = (seconds: number) => new Date(T0.getTime() + seconds * 1_000);

/** Each writer of a state with a step that it accepts. */
const WRITERS = {
  issue: (context, step) =>
    issuePayment(context, step, { qrisPayload: '000201', providerTransactionId: `tx-${step.paymentId}` }),
  reject: (context, step) => rejectPayment(context, step, 'denied by the acquirer'),
  pay: (context, step) => payPayment(context, step, later(58)),
  expire: expirePayment,
  cancel: cancelPayment,
  deny: (context, step) => denyPayment(context, step, 'denied'),
  settle: settlePayment,
} as const satisfies Record<string, (context: TransitionContext, step: Step) => Promise<TransitionOutcome>>;

type Writer = keyof typeof WRITERS;
const WRITER_NAMES: readonly Writer[] = ['issue', 'reject', 'pay', 'expire', 'cancel', 'deny', 'settle'];

/** How to get a payment to each status from which a writer starts. */
const PATHS: Partial<Record<PaymentStatus, readonly Writer[]>> = {
  created: [],
  pending: ['issue'],
  paid: ['issue', 'pay'],
};

async function paymentAt(status: PaymentStatus, changes: Partial<PaymentTerms> = {}): Promise<Step> {
  const terms = ledger.newTerms(changes);
  let { state } = await acceptPayment(ledger.context, acceptance(terms, T0));
  for (const writer of PATHS[status] ?? []) {
    ({ state } = await WRITERS[writer](ledger.context, { paymentId: terms.paymentId, version: state.version, at: T0 }));
  }
  expect(state.status).toBe(status);
  return { paymentId: terms.paymentId, version: state.version, at: later(60) };
}

/** Everything that the database holds of a payment, to compare before and after. */
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
    deliveries: await all('select * from webhook_deliveries where payment_id = $1 order by payment_version'),
  };
}

async function addEndpoint(merchantId: string, events: string[] | null, status = 'enabled'): Promise<string> {
  const id = randomUUID();
  await ledger.db.query(
    "insert into webhook_endpoints (id, merchant_id, url, events, status) values ($1, $2, 'http://127.0.0.1:9', $3, $4)",
    [id, merchantId, events, status],
  );
  return id;
}

describe.each(WRITER_NAMES)('%s', (name) => {
  const rule = PAYMENT_TRANSITIONS[name];
  const write = WRITERS[name];

  it('writes status, history, posting and event together', async () => {
    const step = await paymentAt(rule.from);
    expect(await write(ledger.context, step)).toEqual({
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
    const amounts = { total: 50_000, net: 49_650, fee: 350 };
    expect(after.entries.filter((entry) => entry.payment_version === step.version + 1)).toEqual(
      rule.posting.map((line) => ({
        payment_version: step.version + 1,
        account: line.account,
        side: line.side,
        amount_rupiah: amounts[line.amount],
      })),
    );
    expect(after.events.at(-1)).toMatchObject({ event: `payment.${rule.to}`, payment_version: step.version + 1 });
    expect(JSON.parse(after.events.at(-1).body)).toMatchObject({ status: rule.to, updated_at: step.at.toISOString() });
  });

  it('writes nothing a second time, and says what it wrote the first time', async () => {
    const step = await paymentAt(rule.from);
    await write(ledger.context, step);
    const before = await recorded(step.paymentId);
    expect(await write(ledger.context, { ...step, at: later(999) })).toEqual({
      outcome: 'repeated',
      state: { status: rule.to, version: step.version + 1 },
    });
    expect(await recorded(step.paymentId)).toEqual(before);
  });

  it('is applied once by ten writers at the same time', async () => {
    const step = await paymentAt(rule.from);
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => write(ledger.context, step)));
    expect(outcomes.filter(({ outcome }) => outcome === 'applied')).toHaveLength(1);
    expect(outcomes.every(({ state }) => state.status === rule.to && state.version === step.version + 1)).toBe(true);
  });

  it('changes nothing from any other version or status, and says where the payment stands', async () => {
    const step = await paymentAt(rule.from);
    const before = await recorded(step.paymentId);
    const truth = { outcome: 'superseded', state: { status: rule.from, version: step.version } };
    expect(await write(ledger.context, { ...step, version: step.version - 1 })).toEqual(truth);
    expect(await write(ledger.context, { ...step, version: step.version + 1 })).toEqual(truth);
    expect(await recorded(step.paymentId)).toEqual(before);

    for (const other of (['created', 'pending', 'paid'] as const).filter((status) => status !== rule.from)) {
      expect((await write(ledger.context, await paymentAt(other))).outcome).toBe('superseded');
    }
  });
});

describe('accept', () => {
  it('writes the payment as created with what it captured, once', async () => {
    const terms = ledger.newTerms({ feePayer: 'buyer', totalRupiah: 50_350, netRupiah: 50_000 });
    const applied = { outcome: 'applied', state: { status: 'created', version: 1 } };
    expect(await acceptPayment(ledger.context, acceptance(terms, T0))).toEqual(applied);
    const before = await recorded(terms.paymentId);
    expect(before.payment[0]).toMatchObject({
      reference_id: terms.referenceId,
      total_rupiah: 50_350,
      created_at: T0,
      expires_at: later(900),
      currency: 'IDR',
    });
    expect(await acceptPayment(ledger.context, acceptance(terms, later(5)))).toEqual({
      ...applied,
      outcome: 'repeated',
    });
    expect(await recorded(terms.paymentId)).toEqual(before);
  });
});

describe('events', () => {
  it('have exactly the body of the contract', async () => {
    const terms = ledger.newTerms();
    await acceptPayment(ledger.context, acceptance(terms, T0));
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

  it('never share an instant: updated_at moves on by a millisecond', async () => {
    const step = await paymentAt('pending');
    const { events } = await recorded(step.paymentId);
    expect(events.map(({ body }) => JSON.parse(body).updated_at)).toEqual([
      '2026-11-21T08:00:00.000Z',
      '2026-11-21T08:00:00.001Z',
    ]);
  });

  it('reach the endpoints that want them, and wait dead for the disabled ones', async () => {
    const merchantId = randomUUID();
    await ledger.db.query("insert into merchants (id, name) values ($1, 'Warung')", [merchantId]);
    const all = await addEndpoint(merchantId, null);
    const onlyPaid = await addEndpoint(merchantId, ['payment.paid']);
    const off = await addEndpoint(merchantId, null, 'disabled');
    let rung = 0;
    const context = { ...ledger.context, onDeliveries: () => (rung += 1) };

    const terms = ledger.newTerms({ merchantId });
    await acceptPayment(context, acceptance(terms, T0));
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
    expect(rung).toBe(1);
  });
});

describe.each(['pay', 'expire', 'cancel', 'deny'] as const)('%s', (name) => {
  it('closes the notifications that it is the effect of', async () => {
    const step = await paymentAt('pending');
    const { payment } = await recorded(step.paymentId);
    await ledger.db.query(
      `insert into provider_notifications (provider_account_id, reference_id, body_sha256, body)
       values ($1, $2, sha256(convert_to($2, 'UTF8')), '{}')`,
      [payment[0].provider_account_id, payment[0].reference_id],
    );
    await WRITERS[name](ledger.context, step);
    const open = await ledger.db.query(
      'select 1 from provider_notifications where reference_id = $1 and closed_at is null',
      [payment[0].reference_id],
    );
    expect(open.rowCount).toBe(0);
  });
});

describe('pay', () => {
  it('keeps the time of payment and sets the settlement date', async () => {
    const step = await paymentAt('pending');
    await payPayment(ledger.context, step, later(58));
    const { payment } = await recorded(step.paymentId);
    expect(payment[0]).toMatchObject({ paid_at: later(58), settlement_due_at: later(60 + 86_400) });
  });

  it('is never earlier than the payment, whose provider counts in whole seconds', async () => {
    const step = await paymentAt('pending');
    await payPayment(ledger.context, step, later(-0.4));
    expect((await recorded(step.paymentId)).payment[0].paid_at).toEqual(T0);
  });

  it('books no line of zero rupiah', async () => {
    const step = await paymentAt('paid', { feeRupiah: 0, netRupiah: 50_000 });
    const { entries } = await recorded(step.paymentId);
    expect(entries.map(({ account }) => account)).toEqual(['provider_receivable', 'merchant_pending']);
  });
});

describe('the database itself', () => {
  it.each([
    ['update ledger_entries set amount_rupiah = amount_rupiah + 1'],
    ['delete from ledger_entries'],
    ['delete from ledger_postings'],
    ['update payment_transitions set to_status = from_status'],
    ['update webhook_events set body = body'],
    ['truncate ledger_entries'],
    ['truncate payment_transitions cascade'],
  ])('refuses: %s', async (statement) => {
    await paymentAt('paid');
    await expect(ledger.db.query(statement)).rejects.toThrow(/append-only/);
  });

  it('refuses a posting that is unbalanced, has no entries, or books a transition again', async () => {
    const step = await paymentAt('pending');
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

    const paid = await paymentAt('paid');
    await expect(ledger.db.query(posting, [paid.paymentId, paid.version, ledger.merchantId])).rejects.toThrow(/unique/);
  });
});
