import { Writable } from 'node:stream';
import timers from 'node:timers/promises';
import { noteNews } from '../../src/db/notifications';
import { acceptPayment } from '../../src/db/transitions/accept-payment';
import { connectClient } from '../../src/engine/connection';
import { PaymentsEngine } from '../../src/engine/payments-engine';
import { startSweeper } from '../../src/engine/sweeper';
import { createLogger, type Logger } from '../../src/log';
import { temporalAddress } from '../support/engine';
import { acceptance, openLedger, type Ledgered } from '../support/payments';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy';
import { until } from '../support/until';

const OPEN_NEWS = 40;
const SIDE_BY_SIDE = 10;
const PAUSE_MS = 2_000;

let ledger: Ledgered;
let network: TcpProxy;
let engine: PaymentsEngine;
beforeAll(async () => {
  ledger = await openLedger();
});
afterAll(() => ledger.close());

beforeEach(async () => {
  network = await startTcpProxy(temporalAddress());
  engine = new PaymentsEngine(connectClient({ address: network.address, namespace: 'default', security: {} }));
});
afterEach(async () => {
  jest.restoreAllMocks();
  await ledger.db.query('update provider_notifications set closed_at = now() where closed_at is null');
  await engine.close();
  await network.close();
});

/** Notifications of payments that Temporal does not know. */
async function noteNewsOfPayments(count: number): Promise<void> {
  for (let noted = 0; noted < count; noted += 1) {
    const terms = ledger.newTerms();
    await acceptPayment(ledger.context, acceptance(terms, new Date()));
    await noteNews(ledger.db, { accountId: terms.providerAccountId, referenceId: terms.referenceId });
  }
  await ledger.db.query('update provider_notifications set tell_again_at = now()');
}

async function openNews() {
  const { rows } = await ledger.db.query(
    `select told, tell_again_at <= now() as "isDue", tell_again_at <= now() + interval '10 seconds' as "isDueSoon"
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

it('ends after what it is just telling, however much it has still to tell, and Temporal hangs', async () => {
  await noteNewsOfPayments(OPEN_NEWS);
  network.hang();
  const { log, lines } = countLines();
  const sweeper = startSweeper({ db: ledger.db, engine, log });
  await until(openNews, (open) => open.every(({ isDue }) => !isDue));
  await sweeper.stop();
  expect(lines()).toBe(SIDE_BY_SIDE);
});

it('tells again, soon and for as long as it takes, what it could not tell while Temporal was away', async () => {
  await noteNewsOfPayments(SIDE_BY_SIDE);
  await network.cut();
  const { log, lines } = countLines();
  const sweeper = startSweeper({ db: ledger.db, engine, log });
  await until(
    async () => lines(),
    (failures) => failures >= 2 * SIDE_BY_SIDE,
  );
  expect(await openNews()).toEqual(
    Array.from({ length: SIDE_BY_SIDE }, () => expect.objectContaining({ told: 0, isDueSoon: true })),
  );
  await network.restore();
  await until(openNews, (open) => open.every(({ told }) => told > 0));
  await sweeper.stop();
});

it('makes no pause while much is due', async () => {
  const { rows } = await ledger.db.query<{ id: string }>('select id from provider_accounts');
  for (let count = 0; count < 220; count += 1) {
    await noteNews(ledger.db, { accountId: rows[0]?.id ?? '', referenceId: `UNKNOWN-${count}` });
  }
  await ledger.db.query('update provider_notifications set tell_again_at = now()');
  const sleeps = jest.spyOn(timers, 'setTimeout');
  const pauses = () => sleeps.mock.calls.filter(([ms]) => ms === PAUSE_MS).length;
  const sweeper = startSweeper({ db: ledger.db, engine, log: countLines().log });
  await until(openNews, (open) => open.length === 0 || pauses() > 1);
  expect(await openNews()).toEqual([]);
  await sweeper.stop();
});
