import type { ServerResponse } from 'node:http';
import { createSealer } from '../../src/crypto/sealing';
import { insertMerchant } from '../../src/services/merchants/merchants';
import { eventually } from '../support/eventually';
import { issueKey } from '../support/keys';
import { startReceiver, type Receiver } from '../support/receiver';
import { newNamespace, startTestService, type TestService } from '../support/service';
import { registerEndpoint } from '../support/webhooks';

/** How many each merchant has. The benchmark measures how much the others slow down (bench/isolation.ts). */
const PAYMENTS = 20;

interface Merchant {
  readonly endpointId: string;
  readonly key: string;
  readonly receiver: Receiver;
}

let service: TestService;
let hanging: Merchant;
let failing: Merchant;
let third: Merchant;
/** The open requests to the receiver that hangs. */
const hung = new Set<ServerResponse>();

async function newMerchant(name: string): Promise<Merchant> {
  const { id } = await insertMerchant(service.db, { name, feePayer: 'merchant', providers: ['gopay'], approve: true });
  const key = await issueKey(service.db, { merchantId: id, environment: 'sandbox', allowedNetworks: [] });
  const receiver = await startReceiver();
  const endpoint = await registerEndpoint(service.db, createSealer(service.masterKey), {
    merchantId: id,
    url: receiver.url,
    events: [],
  });
  return { endpointId: endpoint.id, key: key.secret, receiver };
}

beforeAll(async () => {
  service = await startTestService(await newNamespace());
  [hanging, failing, third] = [await newMerchant('Hangs'), await newMerchant('Fails'), await newMerchant('Third')];
});

afterAll(async () => {
  await Promise.all([hanging, failing, third].map(({ receiver }) => receiver.close()));
  await service.close();
});

async function createPayment({ key }: Merchant): Promise<void> {
  const response = await fetch(`${service.apiUrl}/payments`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: '{"amount":50000}',
    signal: AbortSignal.timeout(60_000),
  });
  expect(response.status).toBe(201);
  await response.arrayBuffer();
}

/** From now on one receiver sends no response, and the other one only errors. */
function failReceivers(): void {
  hanging.receiver.respond = (response) => {
    hung.add(response);
    response.on('close', () => hung.delete(response));
  };
  failing.receiver.respond = (response) => response.writeHead(500).end();
}

it('delivers webhooks to a merchant while all concurrent attempts of another merchant hang', async () => {
  failReceivers();
  for (let count = 0; count < 4; count += 1) await Promise.all([hanging, failing].map(createPayment));
  await eventually(
    () => Promise.resolve(hung.size),
    (count) => count === 8,
  );
  const initial = [...hung];
  let received = 0;
  third.receiver.respond = (response) => {
    received += 1;
    response.end();
  };
  await Promise.all(Array.from({ length: 5 }, () => createPayment(third)));
  await eventually(
    () => Promise.resolve(received),
    (count) => count === 10,
  );
  expect(initial.filter((response) => hung.has(response))).toHaveLength(8);
});

it('delivers each webhook of a merchant at its first attempt while the receivers of others hang and fail', async () => {
  failReceivers();
  const deliveries = () =>
    service.db.query<{ status: string; attempts_total: number }>(
      'select status, attempts_total from webhook_deliveries where endpoint_id = $1',
      [third.endpointId],
    );
  const before = (await deliveries()).rowCount ?? 0;
  for (let count = 0; count < PAYMENTS; count += 1) await Promise.all([hanging, failing, third].map(createPayment));
  // `created` and `pending` of each payment.
  const { rows } = await eventually(
    deliveries,
    ({ rows }) => rows.length === before + 2 * PAYMENTS && rows.every(({ status }) => status !== 'pending'),
  );
  expect(new Set(rows.map(({ status, attempts_total }) => `${status} ${attempts_total}`))).toEqual(
    new Set(['delivered 1']),
  );
});
