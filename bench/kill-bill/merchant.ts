import type { Http } from '../http';
import type { BenchmarkReceiver } from '../receiver';

/** `PAYMENT_SUCCESS` of the authorization and of the capture. */
const EVENTS_PER_LIFECYCLE = 2;
/** The account that every installation has (`shiro.ini`). */
const LOGIN = `Basic ${Buffer.from('admin:password').toString('base64')}`;
const HEADERS = {
  authorization: LOGIN,
  'content-type': 'application/json',
  'x-killbill-createdby': 'bench',
  'x-killbill-apikey': 'bench',
  'x-killbill-apisecret': 'bench',
} as const;
const AMOUNT = { amount: 50_000, currency: 'IDR' } as const;

/** A merchant's calls to Kill Bill, with a payment method that calls nothing. */
export class KillBillMerchant {
  private constructor(
    private readonly http: Http,
    private readonly receiver: BenchmarkReceiver,
    private readonly accountId: string,
  ) {}

  /** Creates a tenant, whose notifications the receiver gets, and an account in it. */
  static async register(http: Http, receiver: BenchmarkReceiver): Promise<KillBillMerchant> {
    await post(http, '/1.0/kb/tenants', { apiKey: 'bench', apiSecret: 'bench' });
    const callback = encodeURIComponent(`${receiver.url}/lifecycles`);
    await post(http, `/1.0/kb/tenants/registerNotificationCallback?cb=${callback}`, {});
    const accountId = await post(http, '/1.0/kb/accounts', { name: 'Bench', currency: 'IDR' });
    const path = `/1.0/kb/accounts/${accountId}/paymentMethods?isDefault=true`;
    await post(http, path, { accountId, pluginName: '__EXTERNAL_PAYMENT__' });
    return new KillBillMerchant(http, receiver, accountId);
  }

  /** Authorizes a payment. @returns its id */
  create(): Promise<string> {
    const path = `/1.0/kb/accounts/${this.accountId}/payments`;
    return post(this.http, path, { transactionType: 'AUTHORIZE', ...AMOUNT });
  }

  /** Authorizes and captures a payment, and waits for both notifications. */
  async lifecycle(): Promise<void> {
    const paymentId = await this.create();
    await post(this.http, `/1.0/kb/payments/${paymentId}`, AMOUNT);
    await this.receiver.lifecycle(paymentId, EVENTS_PER_LIFECYCLE);
  }

  async get(paymentId: string): Promise<void> {
    const { status } = await this.http.send('GET', `/1.0/kb/payments/${paymentId}`, HEADERS);
    if (status !== 200) throw new Error(`GET /1.0/kb/payments/:id returned ${status}`);
  }
}

/** @returns the last part of the address of what was created: its id */
async function post(http: Http, path: string, body: object): Promise<string> {
  const { status, text, location = '' } = await http.send('POST', path, HEADERS, JSON.stringify(body));
  if (status !== 201) throw new Error(`POST ${path} returned ${status}: ${text}`);
  return location.split('/').findLast(Boolean) ?? '';
}
