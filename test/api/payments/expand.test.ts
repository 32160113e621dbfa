import type { MerchantScope } from '../../../src/domain/key-access';
import { changeMerchant } from '../../../src/services/merchants/merchants';
import { eventually } from '../../support/eventually';
import { issueKey } from '../../support/keys';
import { newNamespace, startTestService, type TestService } from '../../support/service';

const ALL =
  'metadata,customer,description,return_url,checkout_url,qris,expires_at,refund,late_payment,failure_reason,' +
  'settlement,fee';
const DETAILS = { customer: { name: 'Sri Rahayu', email: 'sri@example.test' }, metadata: { table: 7, note: 'no ice' } };
const OWN = { description: 'Kopi susu, 2 gelas', return_url: 'https://shop.example/o/1' };

const REQUEST = { amount: 50_000, merchant_reference_id: 'ORDER-1', ...DETAILS, ...OWN };

let service: TestService;
let payment: { id: string; reference_id: string };

beforeAll(async () => {
  service = await startTestService(await newNamespace());
  await changeMerchant(service.db, service.merchantId, { checkoutOrigins: ['https://shop.example'] });
  payment = (await service.call('POST', '/payments', REQUEST, { 'idempotency-key': 'one' })).body.payment;
});
afterAll(() => service.close());

async function withScopes(scopes: readonly MerchantScope[]) {
  const key = { merchantId: service.merchantId, environment: 'sandbox', allowedNetworks: [], scopes } as const;
  return { authorization: `Bearer ${(await issueKey(service.db, key)).secret}` };
}

describe('?expand=', () => {
  it('adds exactly the named members to a payment, after those of the contract', async () => {
    const plain = await service.call('GET', `/payments/${payment.id}`);
    const { body } = await service.call('GET', `/payments/${payment.id}?expand=settlement,metadata`);
    const { metadata, settlement, ...contract } = body.payment;
    expect(contract).toEqual(plain.body.payment);
    expect(metadata).toEqual(DETAILS.metadata);
    expect(settlement).toEqual({ kind: 'automatic', due_at: null, settled_at: null });
  });

  it('?expand= has every member', async () => {
    const { body } = await service.call('GET', `/payments/${payment.id}?expand=${ALL}`);
    const qris = (await service.call('GET', `/payments/${payment.id}/qris`)).body.qris;
    expect(body.payment).toMatchObject({
      ...DETAILS,
      ...OWN,
      qris,
      checkout_url: qris.checkout_url,
      expires_at: qris.expires_at,
      refund: null,
      late_payment: null,
      failure_reason: null,
      fee: { amount: 350, source: 'catalog', class: null, basis_points: 70, flat_amount: 0 },
    });
  });

  it('adds them to a creation, and the current ones to its replay, whose other bytes are the same', async () => {
    const request = { amount: 60_000, ...DETAILS };
    const headers = { 'idempotency-key': 'two' };
    const first = await service.call('POST', '/payments?expand=metadata,settlement', request, headers);
    expect([first.status, first.body.payment.metadata]).toEqual([201, DETAILS.metadata]);
    await service.pay(first.body.payment.reference_id);
    const again = await eventually(
      () => service.call('POST', '/payments?expand=metadata,settlement', request, headers),
      (response) => response.body.payment.settlement.due_at !== null,
    );
    expect({ ...again.body.payment, settlement: null }).toEqual({ ...first.body.payment, settlement: null });
    const { text } = await service.call('POST', '/payments', request, headers);
    expect(text).not.toContain('settlement');
  });

  it('adds them to each item of a bulk', async () => {
    const own = [{ metadata: { seat: 1 } }, { description: 'Teh' }, { return_url: OWN.return_url }, {}];
    const payments = own.map((fields) => ({ amount: 1_000, ...fields }));
    const names = 'metadata,description,return_url,checkout_url';
    const { body } = await service.call('POST', `/payments?expand=${names}`, { payments });
    const none = { metadata: null, description: null, return_url: null };
    expect(body.payments).toEqual(own.map((fields) => expect.objectContaining({ ...none, ...fields })));
    for (const item of body.payments) expect(item.checkout_url).toMatch(/^http/);
  });

  it('adds them to each payment of a list, whose next page keeps the parameter', async () => {
    const { body, headers } = await service.call('GET', '/transactions?limit=1&expand=metadata');
    expect(Object.keys(body.transactions[0])).toContain('metadata');
    expect(headers.get('link')).toContain('expand=metadata');
  });

  it('shows the refund of a payment and its cancellation', async () => {
    const created = (await service.call('POST', '/payments', { amount: 70_000 })).body.payment;
    await service.pay(created.reference_id);
    const refunded = await eventually(
      () => service.call('POST', `/payments/${created.id}/refund?expand=refund`),
      ({ status }) => status === 200,
    );
    expect(refunded.body.payment.refund).toMatchObject({ number: 1, status: 'held', submitted_at: null });
    const cancelled = await service.call('POST', `/payments/${created.id}/cancel?expand=refund,settlement`);
    expect(cancelled.body.payment.refund.status).toBe('cancelled');
    expect(Object.keys(cancelled.body.payment).slice(-2)).toEqual(['refund', 'settlement']);
  });

  it.each([
    ['unknown', /^expand takes one or more of metadata, .*, separated by commas, not "unknown"\.$/],
    ['metadata,refunds,x', /not "refunds"\.$/],
    ['metadata,', /not ""\.$/],
    ['', /not ""\.$/],
    ['metadata&expand=customer', /^expand must be given once\.$/],
    ['__proto__', /not "__proto__"\.$/],
    ['x'.repeat(5_000), /not "x{40}"\.$/],
  ])('400: %.50s, with the rule, and nothing is created', async (expand, message) => {
    const count = async () => (await service.db.query('select from payments')).rowCount;
    const before = await count();
    for (const [method, path] of [
      ['POST', '/payments'],
      ['GET', '/transactions'],
      ['POST', `/payments/${payment.id}/cancel`],
    ] as const) {
      const request = method === 'POST' ? { amount: 1_000 } : undefined;
      const { status, body } = await service.call(method, `${path}?expand=${expand}`, request);
      const error = { code: 'invalid_parameter', message: expect.stringMatching(message) };
      expect([path, status, body.error]).toEqual([path, 400, error]);
    }
    expect(await count()).toBe(before);
  });

  it('403: data of a customer needs the scope "customers", and what was sent "read", also in a replay', async () => {
    const replay = (member: string, headers: Readonly<Record<string, string>>) =>
      service.call('POST', `/payments?expand=${member}`, REQUEST, { ...headers, 'idempotency-key': 'one' });
    const creating = await withScopes(['create']);
    for (const member of ['customer', 'metadata', 'description', 'return_url', 'qris,customer']) {
      const { status, body } = await replay(member, creating);
      expect([member, status, body.error?.code]).toEqual([member, 403, 'scope_not_allowed']);
    }
    expect((await replay('settlement', creating)).status).toBe(201);
    const reading = await withScopes(['read']);
    const read = (member: string) =>
      service.call('GET', `/payments/${payment.id}?expand=${member}`, undefined, reading);
    expect((await read('metadata')).body.payment.metadata).toEqual(DETAILS.metadata);
    expect((await read('customer')).status).toBe(403);
    const withCustomers = await withScopes(['read', 'customers']);
    const path = `/payments/${payment.id}?expand=customer`;
    const { body } = await service.call('GET', path, undefined, withCustomers);
    expect(body.payment.customer).toEqual(DETAILS.customer);
  });
});
