import { insertMerchant, type NewMerchant } from '../../../src/services/merchants/merchants';
import { sendRequest, startTestApis } from '../../support/api';
import { archiveRow } from '../../support/archive-row';
import { eventually } from '../../support/eventually';
import { issueKey } from '../../support/keys';
import { newNamespace, startTestService, type TestService } from '../../support/service';

let service: TestService;
const MERCHANT: Omit<NewMerchant, 'approve'> = { name: 'Other', feePayer: 'merchant', providers: ['gopay'] };

let payment: { id: string; reference_id: string; qris_image_url: string; qris_payload: string };
beforeAll(async () => {
  service = await startTestService(await newNamespace());
  payment = (await service.call('POST', '/payments', { amount: 25_000 })).body.payment;
});
afterAll(() => service.close());

async function keyOfOther(): Promise<string> {
  const { id: merchantId } = await insertMerchant(service.db, { ...MERCHANT, approve: true });
  const { secret } = await issueKey(service.db, { merchantId, environment: 'sandbox', allowedNetworks: [] });
  return `Bearer ${secret}`;
}

describe('GET /payments/:id', () => {
  it('200: returns exactly the fields of the contract, by either id', async () => {
    const byId = await service.call('GET', `/payments/${payment.id}`);
    expect(byId.status).toBe(200);
    expect(Object.keys(byId.body.payment)).toEqual([
      'id',
      'reference_id',
      'merchant_reference_id',
      'payment_method_code',
      'provider',
      'currency',
      'amount',
      'fee_amount',
      'net_amount',
      'total_amount',
      'status',
      'paid_at',
      'created_at',
      'updated_at',
    ]);
    expect(byId.body.payment).toMatchObject({ status: 'pending', paid_at: null, merchant_reference_id: null });
    expect((await service.call('GET', `/payments/${payment.reference_id}`)).text).toBe(byId.text);
  });

  it.each(['LN0000000000000000', '01935b6c-7c00-7000-8000-000000000000', 'nonsense', '%E0%A4%A', '..%2f..', 'ln0'])(
    '404: %s',
    async (id) => {
      const { status, body } = await service.call('GET', `/payments/${id}`);
      expect([status, body.error.code]).toEqual([404, 'not_found']);
    },
  );

  it("404: another merchant's payment, by either id", async () => {
    const authorization = await keyOfOther();
    for (const id of [payment.id, payment.reference_id]) {
      const { status, body } = await service.call('GET', `/payments/${id}`, undefined, { authorization });
      expect([status, body.error.code]).toEqual([404, 'not_found']);
    }
  });

  it('404: only its own merchant learns that a payment is archived', async () => {
    const { paymentId, referenceId } = await archiveRow(service.db, service.merchantId, '2026-01-30');
    const authorization = await keyOfOther();
    for (const id of [paymentId, referenceId]) {
      const [own, other] = await Promise.all([
        service.call('GET', `/payments/${id}`),
        service.call('GET', `/payments/${id}`, undefined, { authorization }),
      ]);
      const reasons = [own, other].map(({ status, headers }) => [status, headers.get('x-error-reason')]);
      expect(reasons).toEqual([
        [404, 'payment_archived'],
        [404, 'payment_unknown'],
      ]);
    }
  });
});

describe('the QR image', () => {
  it('200: is available as PNG and SVG without a key, and is immutable', async () => {
    for (const [url, type] of [
      [payment.qris_image_url, 'image/png'],
      [payment.qris_image_url.replace(/png$/, 'svg'), 'image/svg+xml'],
    ] as const) {
      const response = await fetch(url);
      expect([response.status, response.headers.get('content-type')?.split(';')[0]]).toEqual([200, type]);
      expect(response.headers.get('cache-control')).toContain('immutable');
      expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(500);
    }
  });

  it('the address of a QR image is not in the log, since it is a secret', async () => {
    const apis = await startTestApis([{}]);
    const { pathname } = new URL(payment.qris_image_url);
    const split = pathname.replace(/(?<=^.{12})/, '.');
    for (const path of [pathname, pathname.replace('qris', 'QRIS'), `${pathname}/x`, `/${pathname}`, split])
      await sendRequest(apis.urls[0] + path);
    await apis.db.query('alter table payments rename to away');
    await sendRequest(apis.urls[0] + pathname);
    await apis.close();
    const [, token = ''] = /([^/]+)\.png$/.exec(pathname) ?? [];
    expect(token).not.toBe('');
    expect(apis.logged()).toContain('"/qris/….png"');
    expect(apis.logged()).not.toContain(token.slice(8));
    expect(apis.logged()).not.toContain(token.slice(0, 5));
  });

  it('404: any other token or format', async () => {
    const changed = payment.qris_image_url.replace(/.(?=\.png$)/, (last) => (last === 'A' ? 'Q' : 'A'));
    const others = ['.', '%22', '%3C', '%3D', '='].map((text) => payment.qris_image_url.replace(/(?=\.png$)/, text));
    for (const url of [
      ...others,
      changed,
      `${service.apiUrl}/qris/x.png`,
      payment.qris_image_url.replace(/png$/, 'gif'),
    ]) {
      expect((await fetch(url)).status).toBe(404);
    }
  });
});

describe('other paths', () => {
  it('404 not_found: an unknown path', async () => {
    const { status, body } = await service.call('GET', '/nothing');
    expect([status, body.error.code]).toEqual([404, 'not_found']);
  });

  it('200: /healthz and /readyz report liveness and readiness', async () => {
    expect((await service.call('GET', '/healthz')).body).toEqual({ status: 'ok' });
    // Each check has a timeout of 2 s, which a busy machine may need.
    const { body } = await eventually(
      () => service.call('GET', '/readyz'),
      ({ status }) => status === 200,
    );
    expect(body).toEqual({ status: 'ready', postgresql: 'up', temporal: 'up' });
  });
});
