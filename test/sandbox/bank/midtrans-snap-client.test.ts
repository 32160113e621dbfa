import { randomInt } from 'node:crypto';
import { SnapBi, SnapBiConfig } from 'midtrans-client';
import { parsePayoutCredentials } from '../../../src/providers/snap/payout-credentials';
import { createSnapPayoutProvider } from '../../../src/providers/snap/snap-payout-provider';
import { eventually } from '../../support/eventually';
import { startNotificationReceiver, type Json, type NotificationReceiver } from '../sandbox-under-test';
import { newPayoutReference, openBank, type BankMerchant, type BankUnderTest } from './bank-under-test';

let bank: BankUnderTest;
let receiver: NotificationReceiver;
let merchant: BankMerchant;

beforeAll(async () => {
  [bank, receiver] = await Promise.all([openBank(), startNotificationReceiver()]);
  merchant = await bank.register('midtrans');
  useCredentialsOf(merchant);
});

afterAll(async () => {
  await bank.sandbox.close();
  await receiver.close();
});

/** The client stores the credentials in static fields. Its base URL, too. */
function useCredentialsOf(account: BankMerchant): void {
  SnapBiConfig.SNAP_BI_SANDBOX_BASE_URL = account.baseUrl;
  SnapBiConfig.snapBiClientId = account.clientId;
  SnapBiConfig.snapBiClientSecret = account.clientSecret;
  SnapBiConfig.snapBiPrivateKey = account.privateKeyPem;
  SnapBiConfig.snapBiPartnerId = account.partnerId;
  SnapBiConfig.snapBiChannelId = account.channelId;
}

/** The client has no service of payouts. It signs and sends any path. */
function callBy(path: string, body: object, client = SnapBi.qris()): Promise<Json> {
  client.apiPath = path;
  return client.withBody(body).createConnection(`${Date.now()}${randomInt(10 ** 9)}`);
}

const transferTo = (beneficiaryAccountNo: string, partnerReferenceNo = newPayoutReference()) => ({
  partnerReferenceNo,
  amount: { value: '250000.00', currency: 'IDR' },
  beneficiaryAccountName: 'TOKO "DÉMO" / LUNAS',
  beneficiaryAccountNo,
  beneficiaryBankCode: '014',
  sourceAccountNo: '0000000000',
  transactionDate: new Date().toISOString(),
});

describe("Midtrans' published SNAP client at the sandbox bank", () => {
  it('gets a token with its RSA signature', async () => {
    const response = await SnapBi.qris().getAccessToken();
    expect(response).toMatchObject({ responseCode: '2007300', accessToken: expect.any(String), expiresIn: '900' });
  });

  it('signs services 16, 18 and 36 over the raw body', async () => {
    const transfer = transferTo('9900000020');
    const inquiry = { beneficiaryBankCode: '014', beneficiaryAccountNo: '1234567890' };
    const status = { originalPartnerReferenceNo: transfer.partnerReferenceNo, serviceCode: '18' };
    expect(await callBy('/v1.0/account-inquiry-external', inquiry)).toMatchObject({
      responseCode: '2001600',
      beneficiaryAccountName: 'TOKO DEMO LUNAS',
    });
    expect(await callBy('/v1.0/transfer-interbank', transfer)).toMatchObject({ responseCode: '2001800' });
    expect(await callBy('/v1.0/transfer/status', status)).toMatchObject({
      responseCode: '2003600',
      latestTransactionStatus: '03',
    });
    const path = `/simulator/snap/merchants/${merchant.clientId}/calls`;
    const { calls } = await bank.sandbox.call('GET', path);
    expect(calls.map(({ service, signed_form }: Json) => [service, signed_form])).toEqual([
      ['inquiry', 'raw'],
      ['transfer', 'raw'],
      ['transfer_status', 'raw'],
    ]);
  });

  it('sends a transfer that a button of the page completes', async () => {
    const { partnerReferenceNo, ...transfer } = transferTo('9900000021');
    await callBy('/v1.0/transfer-interbank', { partnerReferenceNo, ...transfer });
    const page = async () => (await fetch(`${bank.sandbox.url}/?tab=payouts`)).text();
    const actions = [...(await page()).matchAll(/action="(\/simulator\/transfers\/[^"]+)"/g)].map(
      ([, action]) => action,
    );
    const ours = ['complete', 'fail'].map((change) => `/simulator/transfers/${partnerReferenceNo}/${change}`);
    expect(actions).toEqual(expect.arrayContaining(ours));
    const [complete = ''] = ours;
    const form = { method: 'POST', body: new URLSearchParams(), redirect: 'manual' } as const;
    expect((await fetch(bank.sandbox.url + complete, form)).status).toBe(303);
    expect(await bank.findTransfer(partnerReferenceNo)).toMatchObject({ status: 'completed' });
    expect(await page()).toContain(`/simulator/transfers/${partnerReferenceNo}/return`);
  });

  it('a call with another secret is rejected', async () => {
    SnapBiConfig.snapBiClientSecret = 'another';
    const response = await callBy('/v1.0/transfer-interbank', transferTo('9900000020'));
    SnapBiConfig.snapBiClientSecret = merchant.clientSecret;
    expect(response).toMatchObject({ responseCode: '4011800' });
  });

  it('verifies a notification of SNAP, and no other body', async () => {
    const sender = await bank.register('faspay', receiver.url);
    SnapBiConfig.snapBiPublicKey = sender.acquirerPublicKey;
    const { partnerReferenceNo, body, headers } = await notificationOf(sender);
    const payload: Json = JSON.parse(body);
    const verify = (notification: object): boolean =>
      SnapBi.notification()
        .withNotificationPayload(notification)
        .withSignature(String(headers['x-signature']))
        .withTimeStamp(String(headers['x-timestamp']))
        .withNotificationUrlPath(new URL(receiver.url).pathname)
        .isWebhookNotificationVerified();
    expect(payload).toMatchObject({ originalPartnerReferenceNo: partnerReferenceNo });
    expect(verify(payload)).toBe(true);
    expect(verify({ ...payload, latestTransactionStatus: '06' })).toBe(false);
  });
});

/** The first notification of a transfer of this merchant, which our own adapter sends. */
async function notificationOf(sender: BankMerchant) {
  const { clientId, partnerId, channelId, privateKeyPem: privateKey } = sender;
  const credentials = { clientId, partnerId, channelId, privateKey, sourceAccountNo: '0000000000' };
  const provider = createSnapPayoutProvider({
    profile: 'faspay',
    baseUrl: sender.baseUrl,
    credentials: parsePayoutCredentials(JSON.stringify(credentials)),
  });
  const partnerReferenceNo = newPayoutReference();
  await provider.sendPayout(
    {
      referenceId: partnerReferenceNo,
      sendNumber: 1,
      amountRupiah: 250_000,
      account: { bankCode: '014', number: '9900000020' },
      holderName: 'TOKO DEMO LUNAS',
      submittedAt: new Date(),
    },
    { signal: new AbortController().signal, deadlineAtMs: Date.now() + 60_000 },
  );
  await provider.close();
  const isOfTransfer = ({ body }: { readonly body: string }) => body.includes(partnerReferenceNo);
  const found = await eventually(
    () => Promise.resolve(receiver.notifications.find(isOfTransfer)),
    (notification) => notification !== undefined,
  );
  if (!found) throw new Error('There is no notification');
  return { partnerReferenceNo, ...found };
}
