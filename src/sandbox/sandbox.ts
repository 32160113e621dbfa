import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import type { Pool } from 'pg';
import { codeOf, UserError } from '../errors';
import { gracefulShutdown } from '../lib/graceful-shutdown';
import type { Logger } from '../observability/logger';
import { Bank } from './bank/bank';
import { bankControl } from './bank/bank-control';
import { transferNotifications } from './bank/transfer-notifications';
import { listTransfers } from './bank/transfer-records';
import { onlyLoopback, onlyOwnPage } from './control-responses';
import { openDatabase } from './database';
import { Faults, SLOW_MS } from './faults';
import { Ledger } from './ledger';
import { midtransApi } from './midtrans-api';
import { listNotifications, orderNotifications } from './notification-queue';
import { NOTIFICATION_DELAYS_MS, Notifier } from './notifier';
import { pageQuery, sandboxPage } from './page';
import { FONTS } from './page-files';
import { send } from './respond';
import { CORE_API, errorResponse, internalError, unknownResource } from './responses';
import { scan } from './scan';
import { shopControl } from './shop-control';
import { Shops } from './shops';
import { simulatorApi } from './simulator-api';
import { SnapMerchants } from './snap/merchants';
import { snapApi } from './snap/snap-api';

export interface SandboxOptions {
  /** 0 for any free port. */
  readonly port: number;
  readonly host: string;
  /** The ledger's own database; created if it does not exist. */
  readonly databaseUrl: string;
  readonly log: Logger;
  readonly notificationDelaysMs?: readonly number[];
}

export interface Sandbox {
  readonly url: string;
  /** Completes the requests and attempts in flight, then stops. */
  close(): Promise<void>;
}

const BODY_LIMIT = '64kb';
const CODES_ON_PAGE = 12;
const ORDERS_ON_PAGE = 30;
const NOTIFICATIONS_ON_PAGE = 20;
const TRANSFERS_ON_PAGE = 20;
/** Longer than the slowest response; a request with the fault `timeout` never gets one. */
const SHUTDOWN_TIMEOUT_MS = SLOW_MS + 1000;

/**
 * Starts the acquirer simulator: Midtrans' Core API for QRIS, the bank, the simulator API and the page.
 * @throws UserError if the port is taken; the driver's error if PostgreSQL cannot be reached
 */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { log, notificationDelaysMs: delaysMs = NOTIFICATION_DELAYS_MS } = options;
  const pool = await openDatabase(options.databaseUrl);
  pool.on('error', (error) => log.warn({ reason: error.message }, 'idle database connection lost'));
  const ledger = new Ledger(pool);
  const faults = new Faults();
  const bank = new Bank(pool);
  const queues = [orderNotifications(pool, () => ledger.sweep()), transferNotifications(pool, () => bank.sweep())];
  const notifiers = queues.map((queue) => new Notifier({ queue, faults, log, delaysMs }));
  const stop = async () => {
    await Promise.all(notifiers.map((notifier) => notifier.close()));
    await pool.end();
  };
  const wakeNotifiers = () => notifiers.forEach((notifier) => notifier.wake());
  const server = createServer(createApp({ pool, ledger, bank, faults, wakeNotifiers, log }));
  const closeServer = gracefulShutdown(server, { timeoutMs: SHUTDOWN_TIMEOUT_MS });
  // Longer than clients keep idle connections: closing one first could cut a request.
  server.keepAliveTimeout = 65_000;
  await listen(server, options).catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  const url = urlOf(server, options.host);
  log.info({ url }, 'sandbox is listening');
  return {
    url,
    async close() {
      await closeServer();
      await stop();
    },
  };
}

interface AppDependencies {
  readonly pool: Pool;
  readonly ledger: Ledger;
  readonly bank: Bank;
  readonly faults: Faults;
  readonly log: Logger;
  readonly wakeNotifiers: () => void;
}

function createApp({ pool, ledger, bank, faults, log, wakeNotifiers }: AppDependencies): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.use(onlyOwnPage);
  const merchants = new SnapMerchants(pool);
  const shops = new Shops(pool);
  // Before the parser: a signature covers the bytes as they arrive.
  app.use(snapApi({ merchants, bank, faults, wakeNotifiers }));
  // Not strict: Midtrans' own clients send the JSON body `null` to cancel and expire.
  app.use(
    express.json({ limit: BODY_LIMIT, strict: false }),
    express.urlencoded({ limit: BODY_LIMIT, extended: false }),
  );
  app.get('/healthz', (_request, response) => pool.query('select 1').then(() => response.json({ status: 'ok' })));
  app.get('/', onlyLoopback, (request, response) => sendPage(request, response));
  for (const [address, file] of FONTS) {
    app.get(address, onlyLoopback, (_request, response) => response.sendFile(file, { maxAge: '1d' }));
  }
  app.use(simulatorApi(ledger, faults, wakeNotifiers));
  app.use(bankControl({ pool, bank, merchants, wakeNotifiers }));
  app.use(shopControl(shops));
  app.use(midtransApi({ ledger, shops, faults, wakeNotifier: wakeNotifiers }));
  app.use((_request, response) => send(response, unknownResource(), CORE_API));
  app.use((error: unknown, _request: Request, response: Response, _next: NextFunction) => {
    handleRequestError(error, response, log);
  });

  async function sendPage(request: Request, response: Response): Promise<void> {
    const query = pageQuery.parse(request.query);
    const scanned = query.qris_payload === '' ? null : await scan(ledger, query.qris_payload);
    const [payable, orders, notifications, bankDelaySeconds, account, transfers] = await Promise.all([
      ledger.listPayable(CODES_ON_PAGE),
      ledger.list(ORDERS_ON_PAGE, query.q),
      listNotifications(pool, NOTIFICATIONS_ON_PAGE, query.q),
      ledger.bankDelaySeconds(),
      bank.readAccount(),
      listTransfers(pool, TRANSFERS_ON_PAGE),
    ]);
    const page = sandboxPage({
      ...query,
      scanned,
      payable,
      orders,
      notifications,
      faults: faults.list(),
      bankDelaySeconds,
      bank: { account, transfers },
    });
    response.set('content-security-policy', page.contentSecurityPolicy).type('html').send(page.html);
  }

  return app;
}

/** Errors of Express and its parsers have a `status`. Any other error is internal. */
function handleRequestError(error: unknown, response: Response, log: Logger): void {
  const status = typeof error === 'object' && error !== null && 'status' in error ? Number(error.status) : 500;
  if (response.headersSent) {
    response.destroy();
  } else if (status === 413) {
    send(
      response,
      errorResponse('413', 'The request cannot be processed due to malformed syntax in the request body'),
      CORE_API,
    );
  } else if (status < 500) {
    send(response, errorResponse('400', 'The request cannot be read'), CORE_API);
  } else {
    log.error({ err: error }, 'request failed');
    send(response, internalError(), CORE_API);
  }
}

async function listen(server: Server, { port, host }: SandboxOptions): Promise<void> {
  try {
    server.listen(port, host);
    await once(server, 'listening');
  } catch (error) {
    if (codeOf(error) !== 'EADDRINUSE') throw error;
    throw new UserError(`Port ${port} is taken: stop what listens there, or set SANDBOX_PORT to another.`);
  }
}

function urlOf(server: Server, host: string): string {
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const isWildcard = host === '0.0.0.0' || host === '::';
  return `http://${isWildcard ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host}:${port}`;
}
