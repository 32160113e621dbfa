import { Writable } from 'node:stream';
import { noteNews } from '../../src/db/notifications';
import { acceptPayment } from '../../src/db/transitions/accept-payment';
import { connectClient } from '../../src/engine/connection';
import { PaymentsEngine } from '../../src/engine/payments-engine';
import { startSweeper } from '../../src/engine/sweeper';
import { createLogger } from '../../src/log';
import { temporalAddress } from '../support/engine';
import { acceptance, openLedger, type Ledgered } from '../support/payments';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy';
import { until } from '../support/until';

const OPEN_NEWS = 40;
const SIDE_BY_SIDE = 10;

let ledger: Ledgered;
let network: TcpProxy;
let engine: PaymentsEngine;
beforeAll(async () => {
  ledger = await openLedger();
  network = await startTcpProxy(temporalAddress());
  engine = new PaymentsEngine(connectClient({ address: network.address, namespace: 'default', security: {} }));
});
afterAll(async () => {
  await engine.close();
  await network.close();
  await ledger.close();
});

it('ends after what it is just telling, however much it has still to tell, and Temporal hangs', async () => {
  for (let count = 0; count < OPEN_NEWS; count += 1) {
    const terms = ledger.newTerms();
    await acceptPayment(ledger.context, acceptance(terms, new Date()));
    await noteNews(ledger.db, { accountId: terms.providerAccountId, referenceId: terms.referenceId });
  }
  await ledger.db.query('update provider_notifications set tell_again_at = now()');
  network.hang();
  let lines = 0;
  const count = new Writable({
    write(_line, _encoding, done) {
      lines += 1;
      done();
    },
  });
  const sweeper = startSweeper({ db: ledger.db, engine, log: createLogger('test', 'warn', count) });
  const untold = async () => {
    const { rows } = await ledger.db.query('select id from provider_notifications where tell_again_at <= now()');
    return rows.length;
  };
  await until(untold, (left) => left === 0);
  await sweeper.stop();
  expect(lines).toBe(SIDE_BY_SIDE);
});
