import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createSealer } from '../../src/crypto/sealing';
import { parseQris } from '../../src/qris/qris';
import { listExceptions } from '../../src/services/payments/exceptions';
import { addAccount, listAccounts } from '../../src/services/provider-accounts/provider-accounts';
import { disableAsOperator, enableAsOperator } from '../support/accounts';
import { eventually } from '../support/eventually';
import { createSecondMerchant, type SecondMerchant } from '../support/second-merchant';
import { newNamespace, startTestService, type TestService } from '../support/service';
import { bySize } from '../support/size';

/* The app of a customer shows the name of the account that issued the QR: that of the shop, and of no other. */

interface Shop {
  readonly nmid: string;
  readonly name: string;
  readonly merchant: SecondMerchant;
  readonly accountId: string;
}

let service: TestService;
let kopi: Shop;
let buku: Shop;

beforeAll(async () => {
  service = await startTestService(await newNamespace());
  [kopi, buku] = [await openShop('17', 'Kopi Kita'), await openShop('25', 'Toko Buku')];
});
afterAll(() => service.close());

const simulate = (method: string, path: string, body: object) =>
  fetch(`${service.sandboxUrl}/simulator/shops${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

/** A merchant with a shop at the acquirer, and an account of its own. */
async function openShop(number: string, name: string): Promise<Shop> {
  const [nmid, serverKey] = [`ID10200000000${number}`, `SB-Mid-server-${number}`];
  const shop = { server_key: serverKey, nmid, name, city: 'Bandung', criterion: 'UKE' };
  expect((await simulate('POST', '', shop)).status).toBe(201);
  const merchant = await createSecondMerchant(service.db);
  const { id: accountId } = await addAccount(service.db, createSealer(service.masterKey), {
    provider: 'gopay',
    adapter: 'midtrans',
    serverKey,
    nmid,
    shownName: name,
    merchantId: merchant.id,
    weight: 1,
    baseUrl: service.sandboxUrl,
    environment: 'sandbox',
  });
  return { nmid, name, merchant, accountId };
}

/** A busy service rejects a create, or does not respond in time: a repeat after `Retry-After` is the same payment. */
async function create(secretKey = service.secretKey, provider = 'gopay') {
  const headers = { authorization: `Bearer ${secretKey}`, 'idempotency-key': randomUUID() };
  for (;;) {
    const response = await service.call('POST', '/payments', { amount: 50_000, provider }, headers);
    if (response.status !== 429 && response.status !== 500) return response;
    await sleep(Number(response.headers.get('retry-after') ?? 1) * 1_000);
  }
}

function shopIn(payload: string) {
  const qris = parseQris(payload);
  if (!qris.ok) throw new Error(qris.error.message);
  return { nmid: qris.value.nmid, name: qris.value.merchantName };
}

it('each QR of concurrent creates of two merchants has NMID and name of its own shop', async () => {
  const shops = Array.from({ length: bySize({ small: 40, full: 200 }) }, (_, index) => (index % 2 === 0 ? kopi : buku));
  const created = await Promise.all(shops.map(({ merchant }) => create(merchant.secretKey)));
  expect(created.filter(({ status }) => status !== 201)).toEqual([]);
  const crossed = created.filter(({ body }, index) => {
    const { nmid, name } = shopIn(body.payment.qris_payload);
    return nmid !== shops[index]?.nmid || name !== shops[index].name;
  });
  expect(crossed).toHaveLength(0);
});

it('merchants without an account of their own, and other providers, use the shared ones', async () => {
  for (const payment of [await create(), await create(kopi.merchant.secretKey, 'shopeepay')]) {
    expect(shopIn(payment.body.payment.qris_payload).name).toBe('Toko Sandbox Lunas');
  }
});

it('no shared account serves a merchant whose own account is disabled', async () => {
  await disableAsOperator(service.db, kopi.accountId);
  const { status, body, headers } = await create(kopi.merchant.secretKey);
  expect([status, body.error.code, headers.get('x-error-reason')]).toEqual([
    400,
    'payment_create_failed',
    'provider_unavailable',
  ]);
  await enableAsOperator(service.db, kopi.accountId);
  expect((await create(kopi.merchant.secretKey)).status).toBe(201);
});

it('no row of a payment has the account of another merchant, whichever role writes it', async () => {
  const { payment } = (await create(kopi.merchant.secretKey)).body;
  const insert = `insert into payments select (jsonb_populate_record(payment, jsonb_build_object(
      'id', gen_random_uuid(), 'reference_id', 'LN-COPY', 'provider_account_id', $2::uuid))).*
    from payments payment where id = $1`;
  await expect(service.db.query(insert, [payment.id, buku.accountId])).rejects.toMatchObject({ code: 'LN002' });
  const change = 'update provider_accounts set merchant_id = $2 where id = $1';
  await expect(service.db.query(change, [kopi.accountId, buku.merchant.id])).rejects.toMatchObject({ code: '23001' });
});

it('the checkout page shows name and NMID of the account that issued, before and after it is paid', async () => {
  const created = await create(kopi.merchant.secretKey);
  const { payment } = created.body;
  const [, page = ''] = /^<([^>]+)>/.exec(created.headers.get('link') ?? '') ?? [];
  const read = async () => (await fetch(page, { headers: { 'accept-language': 'en' } })).text();
  for (const text of [kopi.name, kopi.nmid]) expect(await read()).toContain(text);
  await service.pay(payment.reference_id);
  const paid = await eventually(read, (html) => html.includes('receipt.png'));
  for (const text of [kopi.name, kopi.nmid]) expect(paid).toContain(text);
});

it.each([
  ['name', { issues_name: 'Toko Lain' }, 'its QR has the name Toko Lain instead of Toko Buku'],
  ['NMID', { issues_nmid: 'ID1020000000033' }, 'its QR has NMID ID1020000000033 instead of ID1020000000025'],
])('a QR with another %s reaches no customer, and stops the account', async (_, issued, reason) => {
  expect((await simulate('PUT', `/${buku.nmid}`, issued)).status).toBe(200);
  expect((await create(buku.merchant.secretKey)).status).toBe(400);
  const { rows } = await service.db.query(
    `select status, qris_payload from payments where provider_account_id = $1 order by created_at desc limit 1`,
    [buku.accountId],
  );
  expect(rows).toEqual([{ status: 'failed', qris_payload: null }]);
  const exceptions = await listExceptions(service.db, { onlyOpen: true, limit: 9 });
  expect(exceptions.filter(({ kind }) => kind === 'foreign_qris').map(({ detail }) => detail)).toContainEqual(
    expect.stringContaining(reason),
  );
  const stopped = (await listAccounts(service.db)).find(({ id }) => id === buku.accountId);
  expect(stopped?.status).toBe('disabled');
  expect((await create(buku.merchant.secretKey)).headers.get('x-error-reason')).toBe('provider_unavailable');
  await enableAsOperator(service.db, buku.accountId);
});
