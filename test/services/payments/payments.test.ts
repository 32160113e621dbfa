import { randomBytes } from 'node:crypto';
import { createSealer } from '../../../src/crypto/sealing';
import { transitionWriters } from '../../../src/db/transitions/payment-transitions';
import type { PaymentTerms } from '../../../src/domain/payment';
import { insertMerchant } from '../../../src/services/merchants/merchants';
import { listPayments } from '../../../src/services/payments/list-payments';
import { showPayment } from '../../../src/services/payments/show-payment';
import { createTestLedger, creation, type TestLedger } from '../../support/payments';
import { registerEndpoint } from '../../support/webhooks';

const AT = Date.parse('2026-01-05T03:00:00.000Z');
const noWorkflow = () => Promise.resolve(null);

let ledger: TestLedger;

beforeEach(async () => {
  ledger = await createTestLedger();
});

afterEach(() => ledger.close());

async function accept(changes: Partial<PaymentTerms> = {}, atMs = AT): Promise<PaymentTerms> {
  const terms = ledger.newTerms(changes);
  await transitionWriters.create(ledger.context, creation(terms, new Date(atMs)));
  return terms;
}

async function pay({ paymentId }: PaymentTerms): Promise<void> {
  const issued = { qrisPayload: '000201', providerTransactionId: 'T1' };
  await transitionWriters.issue(ledger.context, { paymentId, version: 1, at: new Date(AT + 1_000), ...issued });
  await transitionWriters.pay(ledger.context, {
    paymentId,
    version: 2,
    at: new Date(AT + 2_000),
    paidAt: new Date(AT + 1_500),
  });
}

describe('showPayment', () => {
  it('returns transitions, ledger entries and workflow status', async () => {
    const terms = await accept();
    await pay(terms);
    const report = {
      status: 'paid',
      version: 3,
      waitingFor: 'its settlement',
      expiresAt: '2026-01-05T03:15:00.000Z',
      settlesAt: '2026-01-06T03:00:02.000Z',
      attentionReason: null,
      refund: null,
      retriedStep: null,
    } as const;
    const details = await showPayment(
      ledger.db,
      (id) => Promise.resolve({ state: 'running', ...report, waitingFor: id }),
      terms.paymentId,
    );

    expect(details.payment).toMatchObject({ id: terms.paymentId, status: 'paid', paidAt: new Date(AT + 1_500) });
    expect(
      details.transitions.map(({ version, name, fromStatus, toStatus }) => [version, name, fromStatus, toStatus]),
    ).toEqual([
      [1, 'create', null, 'created'],
      [2, 'issue', 'created', 'pending'],
      [3, 'pay', 'pending', 'paid'],
    ]);
    expect(
      details.ledger.map(({ version, side, account, amountRupiah }) => [version, side, account, amountRupiah]),
    ).toEqual([
      [3, 'debit', 'provider_receivable', 50_000],
      [3, 'credit', 'merchant_pending', 49_650],
      [3, 'credit', 'fee_revenue', 350],
    ]);
    expect(details.workflow).toEqual({ state: 'running', ...report, waitingFor: terms.paymentId });
  });

  it('returns each delivery with its attempts', async () => {
    const endpoint = await registerEndpoint(ledger.db, createSealer(randomBytes(32).toString('base64')), {
      merchantId: ledger.merchantId,
      url: 'http://127.0.0.1:9/',
      events: ['payment.paid', 'payment.created'],
    });
    const terms = await accept();
    await pay(terms);
    const before = await showPayment(ledger.db, noWorkflow, terms.paymentId);
    await ledger.db.query(
      `insert into webhook_attempts (delivery_id, number, started_at, duration_ms, status_code, failure)
       values ($1, 2, '2026-01-05T03:00:12Z', 20, 204, null), ($1, 1, '2026-01-05T03:00:02Z', 10, 500, 'it fell')`,
      [before.deliveries[1]?.id],
    );
    const { deliveries } = await showPayment(ledger.db, noWorkflow, terms.paymentId);
    expect(deliveries).toMatchObject([
      { event: 'payment.created', endpointId: endpoint.id, status: 'pending', attempts: [] },
      {
        event: 'payment.paid',
        attempts: [
          { number: 1, startedAt: '2026-01-05T03:00:02.000Z', durationMs: 10, statusCode: 500, failure: 'it fell' },
          { number: 2, startedAt: '2026-01-05T03:00:12.000Z', durationMs: 20, statusCode: 204, failure: null },
        ],
      },
    ]);
  });

  it('finds a payment by its reference', async () => {
    const terms = await accept();
    await accept();
    const { payment } = await showPayment(ledger.db, noWorkflow, terms.referenceId);
    expect(payment.id).toBe(terms.paymentId);
  });

  it('returns the record if the workflow is missing or Temporal is unavailable', async () => {
    const terms = await accept();
    expect((await showPayment(ledger.db, noWorkflow, terms.paymentId)).workflow).toBeNull();
    const away = await showPayment(ledger.db, () => Promise.reject(new Error('no connection')), terms.paymentId);
    expect(away.payment.id).toBe(terms.paymentId);
    expect(away.workflow).toEqual({ error: 'no connection', isWorkerMissing: false });
  });

  it.each(['0193e5c0-0000-7000-8000-000000000000', 'LN0000000000000000', 'nonsense', ''])(
    'rejects the unknown payment %p, and names it',
    async (key) => {
      await expect(showPayment(ledger.db, noWorkflow, key)).rejects.toThrow(`There is no payment ${key}`);
    },
  );
});

describe('listPayments', () => {
  const references = async (filter: Parameters<typeof listPayments>[1]) =>
    (await listPayments(ledger.db, filter)).map((payment) => payment.referenceId);

  it('returns the newest first, up to the limit', async () => {
    const oldest = await accept({}, AT);
    const newest = await accept({}, AT + 2_000);
    const middle = await accept({}, AT + 1_000);
    expect(await references({ limit: 10 })).toEqual([newest, middle, oldest].map((terms) => terms.referenceId));
    expect(await references({ limit: 2 })).toEqual([newest, middle].map((terms) => terms.referenceId));
  });

  it('filters by merchant and by status', async () => {
    const other = await insertMerchant(ledger.db, {
      name: 'Toko Lain',
      feePayer: 'merchant',
      providers: ['gopay'],
      approve: true,
    });
    const [mine, theirs, paid] = [
      await accept(),
      await accept({ merchantId: other.id }, AT + 1),
      await accept({}, AT + 2),
    ];
    await pay(paid);
    expect(await references({ merchantId: other.id, limit: 10 })).toEqual([theirs.referenceId]);
    expect(await references({ status: 'paid', limit: 10 })).toEqual([paid.referenceId]);
    expect(await references({ status: 'created', merchantId: ledger.merchantId, limit: 10 })).toEqual([
      mine.referenceId,
    ]);
    expect(await references({ status: 'settled', limit: 10 })).toEqual([]);
  });
});
