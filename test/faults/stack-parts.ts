import type { Client } from '@temporalio/client';
import { createSealer } from '../../src/crypto/sealing';
import { migrate } from '../../src/db/connection/migrate';
import { createPool, type Pool } from '../../src/db/connection/pool';
import { ensureLogins } from '../../src/local-stack/database-logins';
import { createLogger } from '../../src/observability/logger';
import { SANDBOX_SERVER_KEY } from '../../src/sandbox/acquirers';
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox';
import { setPolicy } from '../../src/services/provider-accounts/catalog';
import { seedDemo } from '../../src/services/sandbox/seed-demo';
import { seedPayouts } from '../../src/services/sandbox/seed-payouts';
import { connectClient } from '../../src/temporal/connection';
import { payloadKeysOf } from '../support/payload-keys';
import { registerEndpoint } from '../support/webhooks';
import { startRecordingReceiver, type RecordingReceiver } from './receiver';
import { apiUrlOf, type FaultSettings } from './settings';

/** Short, so that lifecycles complete. The workload leaves payments of `shopeepay` to expire. */
export const GOPAY_POLICY = {
  provider: 'gopay',
  channel: 'qris',
  settlementDelaySeconds: 1,
  expiresInSeconds: 20,
} as const;
export const SHOPEEPAY_POLICY = {
  provider: 'shopeepay',
  channel: 'qris',
  settlementDelaySeconds: 1,
  expiresInSeconds: 2,
} as const;
export const REFUND_HOLD_SECONDS = 1;

/** The cool-down of a bank account is long enough for a payout to be approved in it. */
const COOLDOWN_SECONDS = 3;
/** More than an attempt at a call takes, and than the bank's status may be late. */
const NOT_FOUND_SECONDS = 20;

const NOTIFICATION_DELAYS_MS = [500, 1_000, 2_000, 4_000, 8_000, ...Array.from({ length: 20 }, () => 15_000)];

/** What a stack has besides its processes. */
export interface StackParts {
  readonly sandbox: Sandbox;
  readonly receiver: RecordingReceiver;
  readonly db: Pool;
  readonly client: Client;
  readonly merchantId: string;
  readonly secretKey: string;
}

/** Migrates and fills the database, and starts what runs in this process. */
export async function prepareParts(
  settings: FaultSettings,
  ledgerUrl: string,
  webhookFails: () => boolean,
): Promise<StackParts> {
  const { databaseUrl, masterKey, temporalAddress } = settings;
  await migrate(databaseUrl, 'sandbox');
  await ensureLogins(databaseUrl);
  const sandbox = await startSandbox({
    port: 0,
    host: '127.0.0.1',
    databaseUrl: ledgerUrl,
    log: createLogger('sandbox', 'silent'),
    notificationDelaysMs: NOTIFICATION_DELAYS_MS,
  });
  const sealer = createSealer(masterKey);
  const sandboxAccess = { sandboxUrl: sandbox.url, sandboxServerKey: SANDBOX_SERVER_KEY };
  const { merchantId, secretKey } = await seedDemo({ databaseUrl, masterKey, ...sandboxAccess });
  const db = createPool(databaseUrl, { max: 8, connectionTimeoutMs: 10_000 });
  for (const policy of [GOPAY_POLICY, SHOPEEPAY_POLICY]) await setPolicy(db, policy);
  await seedPayouts({ db, sealer, sandboxUrl: sandbox.url, apiUrl: apiUrlOf(settings) });
  await db.query(
    `insert into payout_limits (cooldown_seconds, not_found_seconds, replaces_id)
     select $1, $2, max(id) from payout_limits`,
    [COOLDOWN_SECONDS, NOT_FOUND_SECONDS],
  );
  const receiver = await startRecordingReceiver(webhookFails);
  const endpoint = { merchantId, url: receiver.url, events: [] } as const;
  receiver.secret = (await registerEndpoint(db, sealer, endpoint)).secret;
  const target = { address: temporalAddress, namespace: 'default', security: {} };
  const client = connectClient(target, payloadKeysOf(masterKey));
  return { sandbox, receiver, db, client, merchantId, secretKey };
}
