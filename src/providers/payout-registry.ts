import { keyFingerprint } from '../crypto/key-fingerprint';
import type { Sealer } from '../crypto/sealing';
import type { Queryable } from '../db/connection/pool';
import type { Logger } from '../observability/logger';
import { payoutAdapterOf, type Closable, type PayoutAdapterEntry } from './adapters';
import { callRate } from './calls/call-rate';
import { callSlots } from './calls/call-slots';
import { logCalls } from './calls/log-calls';
import { measureCalls } from './calls/measure-calls';
import { wrapPayoutCalls, type CallWrapper } from './calls/wrap-calls';
import type { PayoutProvider } from './payout-provider';
import type { PayoutProfile } from './snap/payout-profiles';

/** Our accounts at the banks that execute payouts. */
export interface PayoutRegistry {
  /** The account for new payouts. Undefined if none is enabled. */
  findPayoutsAccount(): Promise<PayoutsAccount | undefined>;
  /** The account of earlier payouts, which may be disabled now. Undefined if there is none of this id. */
  findAccount(accountId: string): Promise<PayoutsAccount | undefined>;
  close(): Promise<void>;
}

export interface PayoutsAccount {
  readonly accountId: string;
  readonly provider: PayoutProvider;
  readonly profile: PayoutProfile;
}

interface AccountRow {
  readonly id: string;
  readonly adapter: string;
  readonly baseUrl: string;
  readonly sealedCredentials: string;
  /** Names the credentials that were approved. */
  readonly keyFingerprint: string | null;
  readonly callsPerSecond: number | null;
}

interface Connection extends PayoutsAccount {
  readonly row: AccountRow;
}

export interface PayoutRegistrySettings {
  readonly db: Queryable;
  readonly sealer: Sealer;
  readonly log: Pick<Logger, 'info' | 'error'>;
  /** The most calls in flight to an account, payouts that are sent apart. */
  readonly slotsPerAccount: number;
}

/** Reads the row of the account at each call: calls to the bank are few, and an operator may have changed it. */
export function createPayoutRegistry(settings: PayoutRegistrySettings): PayoutRegistry {
  const opened: { close(): Promise<void> }[] = [];
  const connections = new Map<string, Connection>();

  function connectTo(row: AccountRow | undefined): PayoutsAccount | undefined {
    if (!row) return undefined;
    const known = connections.get(row.id);
    if (known && isSame(known.row, row)) return known;
    const adapter = payoutAdapterOf(row);
    const client = connect(settings, adapter, row);
    opened.push(client);
    const { db, log, slotsPerAccount } = settings;
    const limits = [callRate(db, row.id, () => row.callsPerSecond), callSlots(slotsPerAccount)];
    const wrappers = [measureCalls(row.id), ...limits.map(exceptSends), logCalls(row.id, log)];
    const provider = wrappers.reduce(wrapPayoutCalls, withoutNumbers(client));
    const connection = { accountId: row.id, row, provider, profile: adapter.profile };
    connections.set(row.id, connection);
    return connection;
  }

  return {
    findPayoutsAccount: async () => connectTo(await readAccount(settings.db, null)),
    findAccount: async (accountId) => connectTo(await readAccount(settings.db, accountId)),
    async close() {
      await Promise.all(opened.map((client) => client.close()));
    },
  };
}

function isSame(one: AccountRow, other: AccountRow): boolean {
  return (
    one.id === other.id &&
    one.sealedCredentials === other.sealedCredentials &&
    one.keyFingerprint === other.keyFingerprint &&
    one.baseUrl === other.baseUrl &&
    one.callsPerSecond === other.callsPerSecond
  );
}

/** @throws Error if the credentials are not those that were approved: the bank is not called with them */
function connect(
  { sealer, log }: PayoutRegistrySettings,
  adapter: PayoutAdapterEntry,
  { id, baseUrl, ...row }: AccountRow,
): Closable<PayoutProvider> {
  const credentials = sealer.open(row.sealedCredentials, ['provider-credentials', id, row.adapter, baseUrl]);
  if (row.keyFingerprint !== keyFingerprint(credentials)) {
    log.error({ accountId: id }, 'the credentials of the account do not have its fingerprint');
    throw new Error(`The credentials of provider account ${id} do not have the fingerprint of the account`);
  }
  return adapter.connect({ baseUrl, credentials });
}

/** `prepareSend` has reserved the slot of the send: nothing keeps a call back whose permission is recorded. */
function exceptSends(limit: CallWrapper): CallWrapper {
  return (call, work, details) => (details.operation === 'sendPayout' ? work() : limit(call, work, details));
}

/** A bank may repeat the number in its reason, which rows, logs and webhooks have. */
function withoutNumbers(provider: PayoutProvider): PayoutProvider {
  return {
    ...provider,
    inquireAccount: async (account, call) => mask(await provider.inquireAccount(account, call), account.number),
    sendPayout: async (order, call) => mask(await provider.sendPayout(order, call), order.account.number),
    async findPayout(key, call) {
      const found = await provider.findPayout(key, call);
      if (found.outcome !== 'found') return mask(found);
      return { ...found, payout: mask(found.payout) };
    },
  };
}

/** Longer than a response code of SNAP. Nearly every account number is. */
const LONG_NUMBER = /\d{9,}/g;

/** @param number a status query does not have it */
function mask<Outcome extends object>(outcome: Outcome, number?: string): Outcome {
  if (!('reason' in outcome) || typeof outcome.reason !== 'string') return outcome;
  const masked = (found: string) => `••••${found.slice(-4)}`;
  const reason = number === undefined ? outcome.reason : outcome.reason.replaceAll(number, masked);
  return { ...outcome, reason: reason.replace(LONG_NUMBER, masked) };
}

/** @param accountId null: the enabled one */
async function readAccount(db: Queryable, accountId: string | null): Promise<AccountRow | undefined> {
  const { rows } = await db.query<AccountRow>({
    name: 'read_payouts_account',
    text: `select id, adapter, base_url as "baseUrl", sealed_credentials as "sealedCredentials",
        key_fingerprint as "keyFingerprint", calls_per_second as "callsPerSecond"
      from provider_accounts
      where purpose = 'payouts' and status <> 'proposed' and ($1::uuid is null and status = 'enabled' or id = $1)`,
    values: [accountId],
  });
  return rows[0];
}
