import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLogger } from '../../src/observability/logger';
import { SANDBOX_SERVER_KEY } from '../../src/sandbox/acquirers';
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox';
import { newDatabase } from '../support/database';

// Tests read any response.
// oxlint-disable-next-line typescript/no-explicit-any
export type Json = any;

/** A merchant's server that receives notifications and responds as configured. */
export interface NotificationReceiver {
  readonly url: string;
  readonly bodies: string[];
  readonly notifications: { readonly body: string; readonly headers: NodeJS.Dict<string[]> }[];
  respond: (response: ServerResponse) => void;
  waitFor(count: number): Promise<void>;
  close(): Promise<void>;
}

export async function startNotificationReceiver(): Promise<NotificationReceiver> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8');
      receiver.bodies.push(body);
      receiver.notifications.push({ body, headers: request.headersDistinct });
      receiver.respond(response);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const receiver: NotificationReceiver = {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/notifications`,
    bodies: [],
    notifications: [],
    respond: (response) => void response.end(),
    async waitFor(count) {
      for (const deadlineAtMs = Date.now() + 90_000; receiver.bodies.length < count; await sleep(10)) {
        if (Date.now() > deadlineAtMs) throw new Error(`${receiver.bodies.length} of ${count} notifications received.`);
      }
    },
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
  return receiver;
}

export interface SandboxUnderTest {
  readonly url: string;
  readonly databaseUrl: string;
  /** A call with the merchant's server key. Returns the body, with the HTTP status as `http`. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Json>;
  /** Opens an order and returns Midtrans' response. */
  charge(change?: ChargeChange, headers?: Record<string, string>): Promise<Json>;
  /** Starts a second sandbox on the same ledger. */
  startAnother(port: number): Promise<Sandbox>;
  /** Stops the sandbox and starts another on the same ledger and port. */
  restart(whileStopped?: () => void): Promise<void>;
  close(): Promise<void>;
}

export interface ChargeChange {
  orderId?: string;
  grossAmount?: unknown;
  acquirer?: string;
  customExpiry?: object;
}

export interface SandboxSettings {
  notificationDelaysMs?: readonly number[];
}

export function newOrderId(): string {
  return `LN${randomUUID().slice(0, 16)}`;
}

export async function openSandbox({
  notificationDelaysMs = [100, 100, 100],
}: SandboxSettings = {}): Promise<SandboxUnderTest> {
  const database = newDatabase();
  const log = createLogger('sandbox', process.env.LOG_LEVEL ?? 'silent');
  const start = (port: number): Promise<Sandbox> =>
    startSandbox({ port, host: '127.0.0.1', databaseUrl: database.url, log, notificationDelaysMs });
  let sandbox = await start(0);

  const call: SandboxUnderTest['call'] = async (method, path, body, headers = {}) => {
    const response = await fetch(sandbox.url + path, {
      method,
      headers: { authorization: basicAuth(SANDBOX_SERVER_KEY), 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      signal: AbortSignal.timeout(60_000),
    });
    const parsed = JSON.parse(await response.text());
    return { http: response.status, ...parsed };
  };

  return {
    get url() {
      return sandbox.url;
    },
    databaseUrl: database.url,
    call,
    charge: ({ orderId = newOrderId(), grossAmount = 50_000, acquirer = 'gopay', customExpiry } = {}, headers = {}) =>
      call(
        'POST',
        '/v2/charge',
        {
          payment_type: 'qris',
          transaction_details: { order_id: orderId, gross_amount: grossAmount },
          qris: { acquirer },
          ...(customExpiry && { custom_expiry: customExpiry }),
        },
        headers,
      ),
    startAnother: start,
    async restart(whileStopped) {
      const { port } = new URL(sandbox.url);
      await sandbox.close();
      whileStopped?.();
      sandbox = await start(Number(port));
    },
    async close() {
      await sandbox.close();
      await database.drop();
    },
  };
}

export function basicAuth(serverKey: string): string {
  return `Basic ${Buffer.from(`${serverKey}:`).toString('base64')}`;
}

/** The signature by Midtrans' published rule, independent of the code under test. */
export function signatureOf(notification: Json, serverKey = SANDBOX_SERVER_KEY): string {
  const { order_id, status_code, gross_amount } = notification;
  return createHash('sha512').update(`${order_id}${status_code}${gross_amount}${serverKey}`).digest('hex');
}
