import { randomUUID } from 'node:crypto';
import { insertOperator } from '../../src/services/identity/operators';
import { setPolicy } from '../../src/services/provider-accounts/catalog';
import { createPaid, createPayment } from '../support/created-payment';
import { eventually } from '../support/eventually';
import { signedNotification } from '../support/notification';
import { createSecondMerchant, type SecondMerchant } from '../support/second-merchant';
import { newNamespace, startTestService, type TestService } from '../support/service';

let service: TestService;
let other: SecondMerchant;
let operatorKey: string;
/** Fields that Lunas decides, in the notation of the API, of the rows and of the workflows. */
let internalFields: Readonly<Record<string, unknown>>;
beforeAll(async () => {
  service = await startTestService(await newNamespace());
  const policy = { provider: 'gopay', channel: 'qris', settlementKind: 'manual', settlementDelaySeconds: 0 } as const;
  await setPolicy(service.db, policy);
  other = await createSecondMerchant(service.db);
  ({ secret: operatorKey } = await insertOperator(service.db, { name: 'rini', environment: 'sandbox' }));
  const decided = {
    id: randomUUID(),
    reference_id: 'LN0000000000000007',
    merchant_id: other.id,
    provider_account_id: randomUUID(),
    policy_id: randomUUID(),
    amount_paid: 1,
    amount_rupiah: 1,
    fee_amount: 0,
    fee_rupiah: 0,
    fee_terms: { source: 'agreed', class: null, basisPoints: 0, flatRupiah: 0, validFrom: '2016-01-01' },
    vat_rupiah: 0,
    net_amount: 999_999,
    net_rupiah: 999_999,
    total_amount: 1,
    total_rupiah: 1,
    fee_payer: 'customer',
    settlement_kind: 'automatic',
    settlement_delay_seconds: 0,
    expires_in_seconds: 99_999,
    expires_at: '2036-01-01T00:00:00.000Z',
    created_at: '2016-01-01T00:00:00.000Z',
    updated_at: '2016-01-01T00:00:00.000Z',
    paid_at: '2016-01-01T00:00:00.000Z',
    cancelled_at: '2016-01-01T00:00:00.000Z',
    settlement_due_at: '2016-01-01T00:00:00.000Z',
    settled_at: '2016-01-01T00:00:00.000Z',
    status: 'paid',
    version: 7,
    fingerprint: 'v1.forged',
    qris_payload: 'forged',
    provider_transaction_id: 'forged',
    failure_reason: 'forged',
    account: randomUUID(),
    scopes: ['refund'],
    hold: false,
    is_admin: true,
    actor: 'operator:forged',
    constructor: { name: 'forged' },
  };
  const camelCase = (name: string) => name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  const entries = Object.entries(decided);
  internalFields = Object.fromEntries([...entries, ...entries.map(([name, value]) => [camelCase(name), value])]);
});
afterAll(() => service.close());

/** What the row of a payment has from its request and from the merchant's terms. Times and ids differ. */
async function recordedTerms(paymentId: string) {
  const { rows } = await service.db.query(
    `select merchant_id, provider, provider_account_id, policy_id, amount_rupiah, fee_rupiah, total_rupiah, net_rupiah,
       fee_payer, settlement_kind, settlement_delay_seconds, status, version, merchant_reference_id, currency,
       round(extract(epoch from expires_at - created_at) / 60)::integer as minutes
     from payments where id = $1`,
    [paymentId],
  );
  expect(rows).toHaveLength(1);
  return rows[0];
}

const REQUEST = { amount: 50_000, merchant_reference_id: 'ORDER-1' };

/** The columns that a request sets; an idempotency key in the body of a single creation is not one. */
const REQUESTED_COLUMNS = new Set([
  'merchant_reference_id',
  'idempotency_key',
  'payment_method',
  'provider',
  'currency',
]);

it('each column that Lunas decides is among the fields of the attacks', async () => {
  const { rows } = await service.db.query<{ name: string }>(
    "select column_name as name from information_schema.columns where table_name = 'payments'",
  );
  const decided = rows.map(({ name }) => name).filter((name) => !REQUESTED_COLUMNS.has(name));
  expect(decided.filter((name) => !(name in internalFields))).toEqual([]);
});

describe('attack: a creation with fields that Lunas decides', () => {
  it('internal fields in the body are ignored', async () => {
    const usual = await recordedTerms((await createPayment(service, REQUEST)).id);
    const attacked = await createPayment(service, { ...internalFields, ...REQUEST });
    expect(await recordedTerms(attacked.id)).toEqual(usual);
    expect(attacked).not.toMatchObject({ id: internalFields['id'] });
    expect(attacked).not.toMatchObject({ reference_id: internalFields['reference_id'] });
  });

  it.each(['"__proto__"', '"prototype"'])('internal fields in %s of the body are ignored', async (name) => {
    const usual = await recordedTerms((await createPayment(service, REQUEST)).id);
    const text = `{${name}:${JSON.stringify(internalFields)},${JSON.stringify(REQUEST).slice(1)}`;
    const { status, body } = await service.call('POST', '/payments', text, { 'content-type': 'application/json' });
    expect(status).toBe(201);
    expect(await recordedTerms(body.payment.id)).toEqual(usual);
  });

  it('internal fields in the query and the headers are ignored', async () => {
    const usual = await recordedTerms((await createPayment(service, REQUEST)).id);
    const query = new URLSearchParams({ merchant_id: other.id, amount: '1', status: 'paid', fee_amount: '0' });
    const headers = { 'x-merchant-id': other.id, 'x-amount': '1', 'x-http-method-override': 'GET' };
    const { status, body } = await service.call('POST', `/payments?${query.toString()}`, REQUEST, headers);
    expect(status).toBe(201);
    expect(await recordedTerms(body.payment.id)).toEqual(usual);
  });

  it('internal fields at the top and in the items of a bulk are ignored', async () => {
    const usual = await recordedTerms((await createPayment(service, REQUEST)).id);
    const { status, body } = await service.call('POST', '/payments', {
      ...internalFields,
      payments: [
        { ...internalFields, ...REQUEST },
        { ...internalFields, ...REQUEST },
      ],
    });
    expect([status, body.payments.length]).toEqual([201, 2]);
    for (const { id } of body.payments) expect(await recordedTerms(id)).toEqual(usual);
  });

  it('one key and other internal fields: it is the same request', async () => {
    const key = { 'idempotency-key': randomUUID() };
    const first = await service.call('POST', '/payments', REQUEST, key);
    const second = await service.call('POST', '/payments', { ...internalFields, ...REQUEST }, key);
    expect([second.status, second.text]).toEqual([201, first.text]);
  });
});

describe('attack: an action with fields that Lunas decides', () => {
  it.each(['/payments/:id/cancel', '/transactions/:id/cancel'])('POST %s ignores its body', async (path) => {
    const { id } = await createPayment(service, REQUEST);
    const before = await recordedTerms(id);
    const { status, body } = await service.call('POST', path.replace(':id', id), internalFields);
    expect([status, body.payment.id, body.payment.status]).toEqual([200, id, 'cancelled']);
    expect(await recordedTerms(id)).toEqual({ ...before, status: 'cancelled', version: before.version + 1 });
  });

  it('POST /payments/:id/refund with any field is rejected, and changes nothing', async () => {
    const { id } = await createPaid(service, REQUEST);
    const before = await recordedTerms(id);
    for (const fields of [internalFields, { amount: 1 }, { refund_key: 'forged' }, { number: 7 }]) {
      const { status, body } = await service.call('POST', `/payments/${id}/refund`, fields);
      expect([status, body.error.code]).toEqual([400, 'payment_refund_failed']);
    }
    expect(await recordedTerms(id)).toEqual(before);
    const { rows } = await service.db.query('select number, status from refunds where payment_id = $1', [id]);
    expect(rows).toEqual([]);
  });

  it.each(['settle', 'fail', 'cancel', 'refund', 'refund/retry', 'refund/resolve'])(
    'POST /operator/payments/:id/%s: they change neither the payment nor who acts',
    async (action) => {
      const { id } = await createPayment(service, REQUEST);
      const { name: _, ...fields } = { ...internalFields, name: 'forged' };
      const headers = { authorization: `Bearer ${operatorKey}` };
      const before = await recordedTerms(id);
      const body = { ...fields, as: 'paid', note: 'attack' };
      const { status } = await service.callOperator('POST', `/operator/payments/${id}/${action}`, body, headers);
      expect([200, 400]).toContain(status);
      const after = await recordedTerms(id);
      expect({ ...after, status: before.status, version: before.version }).toEqual(before);
      expect(['pending', 'cancelled']).toContain(after.status);
      const { rows } = await service.db.query('select distinct actor from operator_actions where target = $1', [id]);
      expect(rows.filter(({ actor }) => actor !== 'operator:rini')).toEqual([]);
    },
  );
});

describe('attack: a verified notification with fields that Lunas decides', () => {
  it('changes nothing: the status of the provider decides', async () => {
    const { id, reference_id } = await createPayment(service, REQUEST);
    const before = await recordedTerms(id);
    const { rows } = await service.db.query<{ id: string }>(
      "select id from provider_accounts where provider = 'gopay'",
    );
    const body = { ...internalFields, payment_id: id, amount_paid: 1, ...signedNotification(reference_id) };
    const { status } = await service.call('POST', `/provider-notifications/${rows[0]?.id ?? ''}`, body);
    expect(status).toBe(200);
    await eventually(
      async () => (await service.atProvider(reference_id))?.status_calls ?? 0,
      (calls) => calls > 0,
    );
    expect(await recordedTerms(id)).toEqual(before);
  });
});
