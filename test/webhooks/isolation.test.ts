import { createKey } from '../../src/operator/keys';
import { createMerchant } from '../../src/operator/merchants';
import { disableEndpoint, enableEndpoint } from '../../src/operator/webhook-endpoint-status';
import { createEndpoint } from '../../src/operator/webhook-endpoints';
import { createSealer } from '../../src/sealing';
import { startReceiver, type Receiver } from '../support/receiver';
import { newNamespace, startTestService, type TestService } from '../support/service';
import { until } from '../support/until';

/** Of each merchant in a round. */
const PAYMENTS = 30;
const MOST_RATIO = 1.2;
const LEAST_PAIRS = 2;
const MOST_PAIRS = 6;

interface Merchant {
  readonly endpointId: string;
  readonly key: string;
  readonly receiver: Receiver;
}

let service: TestService;
let hanging: Merchant;
let failing: Merchant;
let third: Merchant;

async function newMerchant(name: string): Promise<Merchant> {
  const { id } = await createMerchant(service.db, { name, feePayer: 'merchant', providers: ['gopay'], approve: true });
  const key = await createKey(service.db, { merchantId: id, environment: 'sandbox', allowedNetworks: [] });
  const receiver = await startReceiver();
  const endpoint = await createEndpoint(service.db, createSealer(service.masterKey), {
    merchantId: id,
    url: receiver.url,
    events: [],
    environment: 'sandbox',
  });
  return { endpointId: endpoint.id, key: key.secret, receiver };
}

beforeAll(async () => {
  service = await startTestService(await newNamespace());
  [hanging, failing, third] = [await newMerchant('Hangs'), await newMerchant('Fails'), await newMerchant('Third')];
}, 60_000);

afterAll(async () => {
  await Promise.all([hanging, failing, third].map(({ receiver }) => receiver.close()));
  await service.close();
});

async function createPayment({ key }: Merchant): Promise<number> {
  const startedAt = performance.now();
  const response = await fetch(`${service.apiUrl}/payments`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: '{"amount":50000}',
    signal: AbortSignal.timeout(20_000),
  });
  expect(response.status).toBe(201);
  await response.arrayBuffer();
  return performance.now() - startedAt;
}

/** What the third merchant had to wait for, in milliseconds. */
interface Waits {
  readonly creations: number[];
  readonly deliveries: number[];
}

/** The same traffic in every round; only how two of the receivers answer differs. */
async function round(arePoor: boolean): Promise<Waits> {
  for (const { endpointId, receiver } of [hanging, failing]) {
    // What an earlier round left ends, and the endpoint begins well.
    await disableEndpoint(service.db, endpointId);
    await enableEndpoint(service.db, endpointId);
    receiver.respond = (response) => response.end();
  }
  let [open, mostOpen] = [0, 0];
  if (arePoor) {
    hanging.receiver.respond = (response) => {
      mostOpen = Math.max(mostOpen, (open += 1));
      response.on('close', () => (open -= 1));
    };
    failing.receiver.respond = (response) => response.writeHead(500).end();
  }
  const waits: Waits = { creations: [], deliveries: [] };
  third.receiver.respond = (response, { body }) => {
    waits.deliveries.push(Date.now() - Date.parse(String(body.updated_at)));
    response.end();
  };
  for (let count = 0; count < PAYMENTS; count += 1) {
    const [, , took] = await Promise.all([hanging, failing, third].map(createPayment));
    waits.creations.push(took ?? NaN);
  }
  // `created` and `pending` of each.
  await until(
    () => Promise.resolve(waits.deliveries.length),
    (count) => count === 2 * PAYMENTS,
  );
  // They hung all the while, and took no more than their share.
  if (arePoor) expect([open > 0, mostOpen]).toEqual([true, 8]);
  return waits;
}

function p99(values: readonly number[]): number {
  return [...values].sort((one, other) => one - other)[Math.ceil(values.length * 0.99) - 1] ?? NaN;
}

/**
 * Whatever else runs on the machine only ever adds to a wait, and here it adds more than the fifth in question: the p99 of
 * rounds without any load differed by a factor of two. So the best round of each kind counts, out of as many pairs as it
 * takes up to a bound: where poor receivers do cost the others something, they do in every round.
 */
it('keeps a merchant as fast as ever while the receivers of others hang and fail', async () => {
  await round(false); // warm
  const best = {
    baseline: { creations: Infinity, deliveries: Infinity },
    load: { creations: Infinity, deliveries: Infinity },
  };
  const ratioOf = (kind: keyof Waits) => best.load[kind] / best.baseline[kind];
  for (let pair = 0; pair < MOST_PAIRS; pair += 1) {
    for (const arePoor of pair % 2 === 0 ? [false, true] : [true, false]) {
      const waits = await round(arePoor);
      const side = best[arePoor ? 'load' : 'baseline'];
      side.creations = Math.min(side.creations, p99(waits.creations));
      side.deliveries = Math.min(side.deliveries, p99(waits.deliveries));
    }
    if (pair + 1 >= LEAST_PAIRS && ratioOf('creations') <= MOST_RATIO && ratioOf('deliveries') <= MOST_RATIO) break;
  }
  expect(ratioOf('creations')).toBeLessThanOrEqual(MOST_RATIO);
  expect(ratioOf('deliveries')).toBeLessThanOrEqual(MOST_RATIO);

  const { rows } = await service.db.query(
    'select distinct status, attempts from webhook_deliveries where endpoint_id = $1',
    [third.endpointId],
  );
  expect(rows).toEqual([{ status: 'delivered', attempts: 1 }]);
}, 240_000);
