import type { Queryable } from '../db/pool';
import type { ProviderName } from '../domain/provider-capabilities';
import type { Sealer } from '../sealing';
import { createMidtransProvider } from './midtrans/midtrans-provider';
import type { Provider } from './provider';

/** Our provider accounts, each with a client. */
export interface ProviderRegistry {
  /** @throws Error if there is no such provider account */
  forAccount(accountId: string): Promise<Provider>;
  /** Undefined for an unknown id: any client can call the notification address. */
  findAccount(accountId: string): Promise<Provider | undefined>;
  close(): Promise<void>;
}

interface AccountRow {
  readonly id: string;
  readonly provider: ProviderName;
  readonly baseUrl: string;
  readonly sealedServerKey: string;
}

type ConnectedProvider = Provider & { close(): Promise<void> };

/** @param publicBaseUrl the address of our API for notifications */
export function createProviderRegistry(db: Queryable, sealer: Sealer, publicBaseUrl: string): ProviderRegistry {
  const connected = new Map<string, ConnectedProvider>();

  async function findAccount(accountId: string): Promise<ConnectedProvider | undefined> {
    const known = connected.get(accountId);
    if (known) return known;
    const account = await readAccount(db, accountId);
    if (!account) return undefined;
    // A concurrent call may have connected the account.
    const provider = connected.get(accountId) ?? connect(account);
    connected.set(accountId, provider);
    return provider;
  }

  function connect({ id, baseUrl, sealedServerKey }: AccountRow): ConnectedProvider {
    const serverKey = sealer.open(sealedServerKey, 'provider-server-key');
    return createMidtransProvider({
      baseUrl,
      serverKey,
      notificationUrl: `${publicBaseUrl}/provider-notifications/${id}`,
    });
  }

  return {
    findAccount,
    async forAccount(accountId) {
      const provider = await findAccount(accountId);
      if (!provider) throw new Error(`There is no provider account ${accountId}`);
      return provider;
    },
    async close() {
      await Promise.all([...connected.values()].map((provider) => provider.close()));
    },
  };
}

async function readAccount(db: Queryable, accountId: string): Promise<AccountRow | undefined> {
  const { rows } = await db.query<AccountRow>({
    name: 'read_provider_account',
    text: `select id, provider, base_url as "baseUrl", sealed_server_key as "sealedServerKey"
      from provider_accounts where id = $1`,
    values: [accountId],
  });
  return rows[0];
}
