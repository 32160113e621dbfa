import { parseQris } from '../../src/qris/qris';
import {
  basicAuth,
  openSandbox,
  signatureOf,
  startNotificationReceiver,
  type SandboxUnderTest,
} from './sandbox-under-test';

const KEY = 'SB-Mid-server-kopi';
const NMID = 'ID1020000000017';
const SHOP = { server_key: KEY, nmid: NMID, name: 'Kopi Kita', city: 'Bandung', criterion: 'UKE' };
const asKopi = { authorization: basicAuth(KEY) };

let sandbox: SandboxUnderTest;

beforeAll(async () => {
  sandbox = await openSandbox();
  await sandbox.call('POST', '/simulator/shops', SHOP);
});
afterAll(() => sandbox.close());

async function shopIn(payload: string) {
  const qris = parseQris(payload);
  if (!qris.ok) throw new Error(qris.error.message);
  const { nmid, merchantName, merchantCity, merchantAccounts } = qris.value;
  return { nmid, merchantName, merchantCity, sizeClass: merchantAccounts[0]?.sizeClass };
}

it('the key of a charge chooses the shop of the QR, also after a restart', async () => {
  const own = { nmid: NMID, merchantName: 'Kopi Kita', merchantCity: 'Bandung', sizeClass: 'UKE' };
  const first = await sandbox.charge({}, asKopi);
  expect(await shopIn(first.qr_string)).toEqual(own);
  const shared = await sandbox.charge();
  expect(await shopIn(shared.qr_string)).toMatchObject({ nmid: 'ID0000000000001', merchantName: 'Toko Sandbox Lunas' });
  expect(first.merchant_id).not.toBe(shared.merchant_id);
  await sandbox.restart();
  expect(await shopIn((await sandbox.charge({}, asKopi)).qr_string)).toEqual(own);
});

it('the orders of another shop are unknown, and an unknown key is rejected', async () => {
  const { order_id: id } = await sandbox.charge({}, asKopi);
  expect(await sandbox.call('GET', `/v2/${id}/status`)).toMatchObject({ status_code: '404' });
  for (const operation of ['expire', 'cancel', 'refund']) {
    expect(await sandbox.call('POST', `/v2/${id}/${operation}`, {})).toMatchObject({ status_code: '404' });
  }
  expect(await sandbox.call('GET', `/v2/${id}/status`, undefined, asKopi)).toMatchObject({ status_code: '201' });
  const stranger = { authorization: basicAuth('SB-Mid-server-unknown') };
  expect(await sandbox.call('GET', `/v2/${id}/status`, undefined, stranger)).toMatchObject({ http: 401 });
});

it('a notification is signed with the key of its shop', async () => {
  const receiver = await startNotificationReceiver();
  const { order_id: id } = await sandbox.charge({}, { ...asKopi, 'x-override-notification': receiver.url });
  await sandbox.call('POST', `/simulator/payments/${id}/pay`);
  await receiver.waitFor(1);
  const notification = JSON.parse(receiver.bodies[0] ?? '');
  expect(notification.signature_key).toBe(signatureOf(notification, KEY));
  await receiver.close();
});

it('issues the QRs of another shop until that ends', async () => {
  const issue = (body: object) => sandbox.call('PUT', `/simulator/shops/${NMID}`, body);
  const other = { issues_nmid: 'ID1020000000025', issues_name: 'Toko Lain' };
  expect(await issue(other)).toMatchObject({ http: 200, shop: { ...SHOP, ...other } });
  const foreign = await sandbox.charge({}, asKopi);
  expect(await shopIn(foreign.qr_string)).toMatchObject({ nmid: 'ID1020000000025', merchantName: 'Toko Lain' });
  await issue({ issues_nmid: null, issues_name: null });
  const own = await sandbox.charge({}, asKopi);
  expect(await shopIn(own.qr_string)).toMatchObject({ nmid: NMID, merchantName: 'Kopi Kita' });
  const unknown = await sandbox.call('PUT', '/simulator/shops/ID1020000000099', other);
  expect(unknown).toMatchObject({ http: 404 });
});

it.each([
  ['a known key', { ...SHOP, nmid: 'ID1020000000033' }, 409],
  ['a known NMID', { ...SHOP, server_key: 'SB-Mid-server-other' }, 409],
  ['another key', { ...SHOP, server_key: 'Mid-server-live' }, 400],
  ['a name of 26 characters', { ...SHOP, name: 'x'.repeat(26) }, 400],
])('registers no shop with %s', async (_, shop, http) => {
  expect(await sandbox.call('POST', '/simulator/shops', shop)).toMatchObject({ http });
  const { shops } = await sandbox.call('GET', '/simulator/shops');
  expect(shops.slice(1)).toEqual([{ ...SHOP, issues_nmid: null, issues_name: null }]);
});
