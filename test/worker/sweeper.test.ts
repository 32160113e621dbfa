import { randomBytes } from 'node:crypto';
import { Writable } from 'node:stream';
import timers from 'node:timers/promises';
import { createSealer } from '../../src/crypto/sealing';
import { scheduleStatusQuery } from '../../src/db/payments/notification-inbox';
import { transitionWriters } from '../../src/db/transitions/payment-transitions';
import { createLogger, type Logger } from '../../src/observability/logger';
import { createProviderRegistry, type ProviderRegistry } from '../../src/providers/registry';
import { connectClient } from '../../src/temporal/connection';
import { NO_PAYLOAD_KEYS } from '../../src/temporal/payload-codec';
import { PaymentWorkflowClient } from '../../src/temporal/payment-workflow-client';
import { startSweeper } from '../../src/worker/sweeper';
import { prepareBankAccount } from '../support/bank-accounts';
import { collectLog, SILENT } from '../support/collect-log';
import { eventually } from '../support/eventually';
import { creation } from '../support/payments';
import { addLines, applyPayout, createTestPayouts, withNewMerchant, type TestPayouts } from '../support/payouts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy';
import { temporalAddress } from '../support/temporal';

const OPEN_NOTIFICATIONS = 40;
const CONCURRENCY = 10;
const PAUSE_MS = 2_000;

let ledger: TestPayouts;
let network: TcpProxy;
let workflows: PaymentWorkflowClient;
let providers: ProviderRegistry;
beforeAll(async () => {
  ledger = await createTestPayouts();
  providers = createProviderRegistry({
    db: ledger.db,
    sealer: createSealer(randomBytes(32).toString('base64')),
    publicBaseUrl: 'http://127.0.0.1:9',
    log: SILENT,
  });
});
afterAll(() => ledger.close());

beforeEach(async () => {
  network = await startTcpProxy(temporalAddress());
  workflows = new PaymentWorkflowClient(
    connectClient({ address: network.address, namespace: 'default', security: {} }, NO_PAYLOAD_KEYS),
  );
});
afterEach(async () => {
  jest.restoreAllMocks();
  await ledger.db.query('update provider_notifications set closed_at = now() where closed_at is null');
  await workflows.close();
  await network.close();
});

/** Notifications of payments without a workflow. */
async function storeNotifications(count: number): Promise<void> {
  for (let noted = 0; noted < count; noted += 1) {
    const terms = ledger.newTerms();
    await transitionWriters.create(ledger.paymentContext, creation(terms, new Date()));
    await scheduleStatusQuery(ledger.db, { accountId: terms.providerAccountId, referenceId: terms.referenceId });
  }
  await ledger.db.query('update provider_notifications set next_notify_at = now()');
}

async function openNotifications() {
  const { rows } = await ledger.db.query(
    `select notify_attempts as "notifyAttempts", next_notify_at <= now() as "isDue",
       next_notify_at <= now() + interval '10 seconds' as "isDueSoon"
     from provider_notifications where closed_at is null`,
  );
  return rows;
}

function countLines(): { readonly log: Logger; readonly lines: () => number } {
  let lines = 0;
  const count = new Writable({
    write(_line, _encoding, done) {
      lines += 1;
      done();
    },
  });
  return { log: createLogger('test', 'warn', count), lines: () => lines };
}

it('stops after the signals in flight, with a backlog and an unresponsive Temporal', async () => {
  await storeNotifications(OPEN_NOTIFICATIONS);
  network.hang();
  const { log, lines } = countLines();
  const sweeper = startSweeper({ db: ledger.db, providers, workflows, log });
  await eventually(openNotifications, (open) => open.every(({ isDue }) => !isDue));
  await sweeper.stop();
  expect(lines()).toBe(CONCURRENCY);
});

it('repeats the signals of an outage of Temporal soon, without a limit', async () => {
  await storeNotifications(CONCURRENCY);
  await network.cut();
  const { log, lines } = countLines();
  const sweeper = startSweeper({ db: ledger.db, providers, workflows, log });
  await eventually(
    async () => lines(),
    (failures) => failures >= 2 * CONCURRENCY,
  );
  expect(await openNotifications()).toEqual(
    Array.from({ length: CONCURRENCY }, () => expect.objectContaining({ notifyAttempts: 0, isDueSoon: true })),
  );
  await network.restore();
  await eventually(openNotifications, (open) => open.every(({ notifyAttempts }) => notifyAttempts > 0));
  await sweeper.stop();
});

it('makes no pause while full batches are due', async () => {
  const { rows } = await ledger.db.query<{ id: string }>('select id from provider_accounts');
  for (let count = 0; count < 220; count += 1) {
    await scheduleStatusQuery(ledger.db, { accountId: rows[0]?.id ?? '', referenceId: `UNKNOWN-${count}` });
  }
  await ledger.db.query('update provider_notifications set next_notify_at = now()');
  const sleeps = jest.spyOn(timers, 'setTimeout');
  const pauses = () => sleeps.mock.calls.filter(([ms]) => ms === PAUSE_MS).length;
  const sweeper = startSweeper({ db: ledger.db, providers, workflows, log: countLines().log });
  await eventually(openNotifications, (open) => open.length === 0 || pauses() > 1);
  expect(await openNotifications()).toEqual([]);
  await sweeper.stop();
});

it('an inquiry or a payout that is not signalled keeps no other one back', async () => {
  const waiting = await Promise.all(
    [1, 2].map(async () => {
      const shop = await withNewMerchant(ledger);
      await addLines(shop, [60_000]);
      const { payoutId } = await applyPayout(shop, ['approve'], { at: new Date() });
      const proposer = await withNewMerchant(ledger);
      return { payoutId, inquiry: await prepareBankAccount(proposer, proposer.merchantId, 'pending_inquiry') };
    }),
  );
  await ledger.db.query(
    "update bank_accounts set updated_at = now() - interval '1 minute' where status = 'pending_inquiry'",
  );
  await network.cut();
  const written = collectLog();
  const sweeper = startSweeper({ db: ledger.db, providers, workflows, log: written.log });
  const idsOf = (message: string, id: string) => new Set(written.lines(message).map((line) => line[id]));
  await eventually(
    async () => written.lines().length,
    (count) => count >= 2 * waiting.length,
  );
  await sweeper.stop();
  expect(idsOf('name inquiry not started; will retry', 'bankAccountId')).toEqual(
    new Set(waiting.map(({ inquiry }) => inquiry)),
  );
  expect(idsOf('deferred payout not woken; will retry', 'payoutId')).toEqual(
    new Set(waiting.map(({ payoutId }) => payoutId)),
  );
});
