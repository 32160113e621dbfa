import { randomBytes, randomUUID } from 'node:crypto';
import { createLogger } from '../../src/log';
import { createSealer } from '../../src/sealing';
import { acceptPayment } from '../../src/db/transitions/accept-payment';
import { claimDeliveries, type Delivery } from '../../src/webhooks/deliveries';
import { startRelay, type Relay } from '../../src/webhooks/relay';
import { createWebhookSender, type WebhookSender } from '../../src/webhooks/send';
import { acceptance, openLedger, type Ledgered } from '../support/payments';
import { startReceiver, verifySignature, type Receiver } from '../support/receiver';
import { until } from '../support/until';

const SECRET = 'whsec_test';
const sealer = createSealer(randomBytes(32).toString('base64'));
const log = createLogger('test', 'silent');

let ledger: Ledgered;
let receiver: Receiver;
let sender: WebhookSender;
let relay: Relay | undefined;
let handedOver: Delivery[];
let waits: number[];

beforeEach(async () => {
  ledger = await openLedger();
  receiver = await startReceiver();
  sender = createWebhookSender();
  handedOver = [];
  waits = [];
});

afterEach(async () => {
  await relay?.stop();
  relay = undefined;
  await sender.close();
  await receiver.close();
  await ledger.close();
});

function start(): Relay {
  const handOver = async (delivery: Delivery, waitSeconds: number) => {
    handedOver.push(delivery);
    waits.push(waitSeconds);
  };
  relay = startRelay({ db: ledger.db, sealer, sender, handOver, log });
  return relay;
}

async function addEndpoint(secrets = [SECRET]): Promise<string> {
  const id = randomUUID();
  await ledger.db.query('insert into webhook_endpoints (id, merchant_id, url) values ($1, $2, $3)', [
    id,
    ledger.merchantId,
    receiver.url,
  ]);
  for (const secret of secrets) {
    await ledger.db.query('insert into webhook_secrets (id, endpoint_id, sealed_secret) values ($1, $2, $3)', [
      randomUUID(),
      id,
      sealer.seal(secret, 'webhook-secret'),
    ]);
  }
  return id;
}

async function acceptPayments(count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    await acceptPayment(ledger.context, acceptance(ledger.newTerms(), new Date()));
  }
}

async function deliveries() {
  const { rows } = await ledger.db.query('select * from webhook_deliveries order by created_at');
  return rows;
}

describe('the relay', () => {
  it('sends what a transition left, signed, with the headers of the contract, and marks it delivered', async () => {
    await addEndpoint();
    await acceptPayments(1);
    start();
    await receiver.waitFor(1);
    const [webhook] = receiver.received;
    const [delivery] = await until(deliveries, (rows) => rows[0]?.status === 'delivered');

    expect(webhook && verifySignature(webhook, SECRET)).toBe(true);
    expect(webhook && verifySignature(webhook, 'whsec_other')).toBe(false);
    expect(webhook?.rawHeaders).toEqual(
      expect.arrayContaining([
        'Content-Type',
        'application/json',
        'User-Agent',
        expect.stringMatching(/^Lunas-Webhooks\/\d+\.\d+\.\d+$/),
        'X-Service-Event',
        'payment.created',
        'X-Service-Delivery',
        delivery.id,
        'X-Service-Signature',
      ]),
    );
    const { rows } = await ledger.db.query('select body from webhook_events');
    expect(webhook?.rawBody).toBe(rows[0].body);
    const attempts = await ledger.db.query('select * from webhook_attempts');
    expect(attempts.rows).toMatchObject([{ number: 1, status_code: 200, failure: null }]);
  });

  it('signs with every secret that is valid during a rotation', async () => {
    const endpoint = await addEndpoint(['whsec_old', 'whsec_new', 'whsec_expired']);
    await ledger.db.query(
      `update webhook_secrets set expires_at = now() - interval '1 second'
       where endpoint_id = $1 and sealed_secret = (select sealed_secret from webhook_secrets offset 2 limit 1)`,
      [endpoint],
    );
    await acceptPayments(1);
    start();
    await receiver.waitFor(1);
    const [webhook] = receiver.received;
    const valid = ['whsec_old', 'whsec_new', 'whsec_expired'].map(
      (secret) => webhook && verifySignature(webhook, secret),
    );
    expect(valid).toEqual([true, true, false]);
  });

  it.each([
    ['a 500', (r: Receiver) => (r.respond = (response) => response.writeHead(500).end('broken'))],
    ['a redirect', (r: Receiver) => (r.respond = (response) => response.writeHead(302, { location: r.url }).end())],
    ['a reset', (r: Receiver) => (r.respond = (response) => response.destroy())],
  ])('hands %s over after one try, and logs it', async (_name, misbehave) => {
    misbehave(receiver);
    await addEndpoint();
    await acceptPayments(1);
    start();
    const [delivery] = await until(deliveries, (rows) => rows[0]?.handed_over_at !== null);
    expect(delivery).toMatchObject({ status: 'pending', attempts: 1 });
    expect(handedOver.map(({ deliveryId }) => deliveryId)).toEqual([delivery.id]);
    expect(receiver.received).toHaveLength(1);
    const { rows } = await ledger.db.query('select failure from webhook_attempts');
    expect(rows[0].failure).toBeTruthy();
  });

  it('gives up at once on a receiver that is gone, and waits as long as a busy one asks', async () => {
    await addEndpoint();
    receiver.respond = (response) => response.writeHead(410).end();
    await acceptPayments(1);
    start();
    const [gone] = await until(deliveries, (rows) => rows[0]?.status === 'dead');
    expect(gone).toMatchObject({ dead_reason: 'endpoint_gone', attempts: 1 });
    expect(waits).toEqual([]);

    receiver.respond = (response) => response.writeHead(503, { 'retry-after': '90' }).end();
    await acceptPayments(1);
    relay?.wake();
    await until(deliveries, (rows) => rows[1]?.handed_over_at !== null);
    expect(waits).toEqual([90]);
  });

  it('does not read an endless answer to its end', async () => {
    let written = 0;
    receiver.respond = (response) => {
      const more = () => {
        while (!response.destroyed && written < 50_000_000 && response.write(Buffer.alloc(64_000, 'x')))
          written += 64_000;
      };
      response.writeHead(200).on('drain', more);
      more();
    };
    await addEndpoint();
    await acceptPayments(1);
    start();
    await until(deliveries, (rows) => rows[0]?.status === 'delivered');
    expect(written).toBeLessThan(50_000_000);
  });

  it('sends each delivery once, side by side, over two relays', async () => {
    await addEndpoint();
    await acceptPayments(60);
    const other = startRelay({ db: ledger.db, sealer, sender, handOver: async () => undefined, log });
    start();
    await until(deliveries, (rows) => rows.every(({ status }) => status === 'delivered'));
    await other.stop();
    const ids = receiver.received.map(({ headers }) => headers['x-service-delivery']);
    expect(ids).toHaveLength(60);
    expect(new Set(ids).size).toBe(60);
  });

  it('does not let a hanging endpoint hold up another', async () => {
    const hanging = await addEndpoint();
    const healthy = await startReceiver();
    receiver.respond = () => undefined;
    await acceptPayments(40);
    await ledger.db.query('update webhook_endpoints set url = $1 where id <> $2', [healthy.url, hanging]);
    const other = randomUUID();
    await ledger.db.query('insert into webhook_endpoints (id, merchant_id, url) values ($1, $2, $3)', [
      other,
      ledger.merchantId,
      healthy.url,
    ]);
    start();
    await receiver.waitFor(1);
    await acceptPayments(5);
    relay?.wake();
    await healthy.waitFor(5, 5_000);
    expect(receiver.received.length).toBeLessThanOrEqual(8);
    await healthy.close();
    await sender.close();
  });

  it('loses nothing when it dies with deliveries in hand: the lease runs out', async () => {
    await addEndpoint();
    await acceptPayments(3);
    const bounds = { most: 10, mostPerEndpoint: 10, busyEndpoints: [] };
    expect(await claimDeliveries(ledger.db, sealer, bounds)).toHaveLength(3);
    expect(await claimDeliveries(ledger.db, sealer, bounds)).toHaveLength(0);
    await ledger.db.query("update webhook_deliveries set leased_until = now() - interval '1 second'");
    start();
    await receiver.waitFor(3);
  });
});
