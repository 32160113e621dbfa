import { z } from 'zod';
import { createSealer } from '../src/crypto/sealing';
import { createPool } from '../src/db/connection/pool';
import { insertKey } from '../src/services/merchants/keys/api-key';
import { insertMerchant } from '../src/services/merchants/merchants';
import { insertEndpoint } from '../src/services/webhooks/webhook-endpoints';
import type { Http, HttpResponse } from './http';

const createdSchema = z.object({ payment: z.object({ id: z.string(), reference_id: z.string() }) });
const checkoutSchema = z.object({ payment: z.object({ checkout_url: z.string() }) });
const bulkSchema = z.object({ payments: z.array(z.object({ status: z.literal('pending') })) });

export type CreatedPayment = z.infer<typeof createdSchema>['payment'];

export interface MerchantSetup {
  readonly databaseUrl: string;
  readonly masterKey: string;
  /** Without it no webhooks are sent. */
  readonly receiverUrl?: string;
}

/** Creates an approved merchant with a key, and with an endpoint if there is a receiver. @returns the key */
export async function registerMerchant({ databaseUrl, masterKey, receiverUrl }: MerchantSetup): Promise<string> {
  const db = createPool(databaseUrl, { max: 1 });
  try {
    const providers = ['gopay', 'shopeepay'] as const;
    const { id } = await insertMerchant(db, { name: 'Bench', feePayer: 'merchant', providers, approve: true });
    const key = await insertKey(db, { merchantId: id, environment: 'sandbox' });
    if (key === null) throw new Error('The key exists');
    if (receiverUrl !== undefined) await addEndpoint(databaseUrl, masterKey, id, receiverUrl);
    return key.secret;
  } finally {
    await db.end();
  }
}

export async function addEndpoint(
  databaseUrl: string,
  masterKey: string,
  merchantId: string,
  url: string,
): Promise<string> {
  const db = createPool(databaseUrl, { max: 1 });
  try {
    const endpoint = { merchantId, url, events: [] } as const;
    const registered = await insertEndpoint(db, createSealer(masterKey), endpoint);
    if (registered === null) throw new Error('The id of the endpoint is not new');
    return registered.id;
  } finally {
    await db.end();
  }
}

/** A merchant's calls to the API of Lunas or of a baseline. */
export class BenchmarkMerchant {
  readonly #headers: Record<string, string>;
  #orders = 0;

  constructor(
    private readonly api: Http,
    private readonly sandbox: Http,
    secretKey: string,
  ) {
    this.#headers = { authorization: `Bearer ${secretKey}`, 'content-type': 'application/json' };
  }

  /** @throws Error for any status but 201 */
  async create(provider: 'gopay' | 'shopeepay' = 'gopay', idempotencyKey?: string): Promise<CreatedPayment> {
    const headers =
      idempotencyKey === undefined ? this.#headers : { ...this.#headers, 'idempotency-key': idempotencyKey };
    const { status, text } = await this.api.send('POST', '/payments', headers, JSON.stringify(this.#order(provider)));
    if (status !== 201) throw new Error(`POST /payments returned ${status}: ${text}`);
    return createdSchema.parse(JSON.parse(text)).payment;
  }

  /** As `create`, but the generator does not parse the response. */
  async createOnly(): Promise<void> {
    const { status, text } = await this.sendCreate();
    if (status !== 201) throw new Error(`POST /payments returned ${status}: ${text}`);
  }

  /** @returns the response, whatever its status */
  sendCreate(): Promise<HttpResponse> {
    return this.api.send('POST', '/payments', this.#headers, JSON.stringify(this.#order('gopay')));
  }

  async createBulk(count: number): Promise<void> {
    const payments = Array.from({ length: count }, () => this.#order('gopay'));
    const { status, text } = await this.api.send('POST', '/payments', this.#headers, JSON.stringify({ payments }));
    if (status !== 201) throw new Error(`A bulk returned ${status}: ${text}`);
    bulkSchema.parse(JSON.parse(text));
  }

  /** Sends the same request with the same key. */
  async replay(idempotencyKey: string): Promise<void> {
    const headers = { ...this.#headers, 'idempotency-key': idempotencyKey };
    const body = JSON.stringify({ amount: 50_000, merchant_reference_id: 'ORDER-REPLAYED' });
    const { status } = await this.api.send('POST', '/payments', headers, body);
    if (status !== 201) throw new Error(`An idempotent replay returned ${status}`);
  }

  async get(id: string): Promise<void> {
    const { status } = await this.api.send('GET', `/payments/${id}`, this.#headers);
    if (status !== 200) throw new Error(`GET /payments/:id returned ${status}`);
  }

  /** The page where the customer pays. */
  async checkoutUrl(id: string): Promise<string> {
    const { text } = await this.api.send('GET', `/payments/${id}?expand=checkout_url`, this.#headers);
    return checkoutSchema.parse(JSON.parse(text)).payment.checkout_url;
  }

  async createAndPay(): Promise<CreatedPayment> {
    const payment = await this.create();
    await this.pay(payment);
    return payment;
  }

  /** The customer pays at the sandbox. */
  async pay(payment: CreatedPayment): Promise<void> {
    const path = `/simulator/payments/${payment.reference_id}/pay`;
    const { status } = await this.sandbox.send('POST', path, { 'content-type': 'application/json' }, '{}');
    if (status !== 200) throw new Error(`The sandbox returned ${status}`);
  }

  #order(provider: string): object {
    this.#orders += 1;
    return { amount: 50_000, provider, merchant_reference_id: `ORDER-${this.#orders}` };
  }
}
