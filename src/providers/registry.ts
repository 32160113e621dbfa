import { keyFingerprint } from '../crypto/key-fingerprint';
import type { Sealer } from '../crypto/sealing';
import type { Queryable } from '../db/connection/pool';
import { notificationUrlOf } from '../domain/cell';
import type { ProviderName } from '../domain/provider-capabilities';
import type { Logger } from '../observability/logger';
import { paymentAdapterOf, type PaymentAdapterEntry } from './adapters';
import { callRate } from './calls/call-rate';
import { logCalls } from './calls/log-calls';
import { measureCalls } from './calls/measure-calls';
import { wrapCalls } from './calls/wrap-calls';
import type { Provider } from './provider';
import type { AccountShop } from './validate-qris';

/** Our provider accounts, each with a client. */
export interface ProviderRegistry {
  /** @throws Error if there is no such provider account */
  forAccount(accountId: string): Promise<Provider>;
  /** Undefined for an unknown id: any client can call the notification address. */
  findAccount(accountId: string): Promise<Provider | undefined>;
  close(): Promise<void>;
}

interface AccountRow extends AccountShop {
  readonly id: string;
  readonly provider: ProviderName;
  readonly adapter: string;
  readonly baseUrl: string;
  readonly sealedServerKey: string;
  /** Names the server key that was approved. Null: not recorded, so not compared. */
  readonly keyFingerprint: string | null;
  readonly callsPerSecond: number | null;
  /** The cell that has the account. */
  readonly cell: string;
}

/** What a client was made of; another client is needed if it changes. */
interface AccountAccess {
  readonly baseUrl: string;
  readonly serverKey: string;
  readonly shop: AccountShop;
}

interface Connection extends AccountAccess {
  readonly provider: Provider;
  /** Null: no limit. */
  callsPerSecond: number | null;
  readAtMs: number;
}

/** A change by an operator is in force on every process after at most 2 s. The rest remains for the read. */
const FRESH_MS = 1_000;

export interface ProviderRegistrySettings {
  readonly db: Queryable;
  readonly sealer: Sealer;
  /** The address of our API for notifications. */
  readonly publicBaseUrl: string;
  readonly log: Pick<Logger, 'info' | 'error'>;
}

/** Reads the row of an account at most once a second, as `lunas accounts set-key` may have changed it. */
export function createProviderRegistry({ db, sealer, publicBaseUrl, log }: ProviderRegistrySettings): ProviderRegistry {
  const connections = new Map<string, Connection>();
  // A call may still use the client of an earlier server key, so each is closed only at the end.
  const opened: { close(): Promise<void> }[] = [];

  function connect(
    { id: accountId, cell }: AccountRow,
    adapter: PaymentAdapterEntry,
    access: AccountAccess,
  ): Connection {
    const known = connections.get(accountId);
    if (known && isSameAccess(known, access)) return known;
    const client = adapter.connect({
      ...access,
      notificationUrl: notificationUrlOf(publicBaseUrl, `${cell}-${accountId}`),
    });
    const rate = callRate(db, accountId, () => connection.callsPerSecond);
    const connection: Connection = {
      ...access,
      provider: [measureCalls(accountId), rate, logCalls(accountId, log)].reduce(wrapCalls, client),
      callsPerSecond: null,
      readAtMs: Date.now(),
    };
    opened.push(client);
    connections.set(accountId, connection);
    return connection;
  }

  /** @throws Error if the sealed server key is not the one that was approved: nothing is called with it */
  function accessOf({ id, adapter, baseUrl, sealedServerKey, ...account }: AccountRow): AccountAccess {
    const serverKey = sealer.open(sealedServerKey, ['provider-server-key', id, adapter, baseUrl]);
    if (account.keyFingerprint !== null && account.keyFingerprint !== keyFingerprint(serverKey)) {
      connections.delete(id);
      log.error({ accountId: id }, 'the server key of the account does not have its fingerprint');
      throw new Error(`The server key of provider account ${id} does not have the fingerprint of the account`);
    }
    return { baseUrl, serverKey, shop: { nmid: account.nmid, shownName: account.shownName } };
  }

  async function findAccount(accountId: string): Promise<Provider | undefined> {
    const known = connections.get(accountId);
    if (known && Date.now() - known.readAtMs < FRESH_MS) return known.provider;
    // Concurrent calls use the known client meanwhile, and this one does if the database does not respond.
    if (known) known.readAtMs = Date.now();
    const read = readAccount(db, accountId);
    const account = await (known ? read.catch(() => undefined) : read);
    if (!account) return known?.provider;
    const connection = connect(account, paymentAdapterOf(account), accessOf(account));
    connection.callsPerSecond = account.callsPerSecond;
    return connection.provider;
  }

  return {
    findAccount,
    async forAccount(accountId) {
      const provider = await findAccount(accountId);
      if (!provider) throw new Error(`There is no provider account ${accountId}`);
      return provider;
    },
    async close() {
      await Promise.all(opened.map((provider) => provider.close()));
    },
  };
}

function isSameAccess(one: AccountAccess, other: AccountAccess): boolean {
  return one.baseUrl === other.baseUrl && one.serverKey === other.serverKey && isSameShop(one.shop, other.shop);
}

function isSameShop(one: AccountShop, other: AccountShop): boolean {
  return one.nmid === other.nmid && one.shownName === other.shownName;
}

async function readAccount(db: Queryable, accountId: string): Promise<AccountRow | undefined> {
  const { rows } = await db.query<AccountRow>({
    name: 'read_provider_account',
    text: `select id, provider, adapter, base_url as "baseUrl", sealed_server_key as "sealedServerKey",
        nmid, shown_name as "shownName", key_fingerprint as "keyFingerprint", calls_per_second as "callsPerSecond",
        (select cell from installation) as cell
      from provider_accounts where id = $1 and purpose = 'payments' and status <> 'proposed'`,
    values: [accountId],
  });
  return rows[0];
}
