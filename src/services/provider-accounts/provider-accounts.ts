import { v7 as uuidv7 } from 'uuid';
import type { Environment } from '../../config';
import { UserError } from '../../errors';
import type { Queryable } from '../../db/connection/pool';
import type { ProviderName } from '../../domain/provider-capabilities';
import type { Sealer } from '../../crypto/sealing';
import { urlFormatViolation } from '../../webhooks/ssrf-guard';
import { assertUrl, isLoopbackHost } from './validate-url';
import { requireRow } from '../../db/connection/require-row';

/** The adapters, and the address of each one's acquirer. */
const BASE_URLS = {
  midtrans: { sandbox: 'https://api.sandbox.midtrans.com', production: 'https://api.midtrans.com' },
} as const satisfies Record<string, Record<Environment, string>>;

export const ADAPTERS = ['midtrans'] as const satisfies readonly (keyof typeof BASE_URLS)[];
export type Adapter = (typeof ADAPTERS)[number];

/** One of our accounts at a provider. No query returns the server key. */
export interface ProviderAccount {
  readonly id: string;
  readonly provider: ProviderName;
  readonly adapter: Adapter;
  readonly baseUrl: string;
  /** Its share of new payments, relative to the provider's other enabled accounts. */
  readonly weight: number;
  /** `proposed`: used for nothing until a second operator approves it. */
  readonly status: 'proposed' | 'enabled' | 'disabled';
  /** Of all processes together; null: no limit. */
  readonly callsPerSecond: number | null;
  readonly createdAt: Date;
}

export interface NewAccount extends Pick<ProviderAccount, 'provider' | 'adapter' | 'weight'> {
  /** Absent: a new one. */
  readonly id?: string;
  readonly serverKey: string;
  /** Absent: the acquirer's own address for the environment. */
  readonly baseUrl?: string | undefined;
  readonly environment: Environment;
  /** Used for nothing until a second operator approves it. */
  readonly isProposed?: boolean;
}

const ACCOUNT_COLUMNS = `id, provider, adapter, base_url as "baseUrl", weight, status,
  calls_per_second as "callsPerSecond", created_at as "createdAt"`;

/** The server key is stored sealed. @throws UserError if the base URL or the server key is not valid */
export async function addAccount(db: Queryable, sealer: Sealer, account: NewAccount): Promise<ProviderAccount> {
  const baseUrl = validateBaseUrl(account.baseUrl ?? BASE_URLS[account.adapter][account.environment], account);
  const id = account.id ?? uuidv7();
  const serverKey = validateServerKey(account.serverKey);
  const { rows } = await db.query<ProviderAccount>(
    `insert into provider_accounts (id, provider, adapter, base_url, sealed_server_key, weight, status)
     values ($1, $2, $3, $4, $5, $6, $7) returning ${ACCOUNT_COLUMNS}`,
    [
      id,
      account.provider,
      account.adapter,
      baseUrl,
      sealer.seal(serverKey, ['provider-server-key', id, account.adapter, baseUrl]),
      account.weight,
      account.isProposed ? 'proposed' : 'enabled',
    ],
  );
  return requireRow(rows, 'The account was not written');
}

/** The adapter appends paths to the base URL, so a query or a fragment is rejected. */
function validateBaseUrl(text: string, { environment }: NewAccount): string {
  const url = new URL(assertUrl(text, urlFormatViolation(text, environment)));
  if (environment === 'production' && isSandboxUrl(text)) {
    throw new UserError(`The base URL is that of a sandbox, which production does not use: ${text}`);
  }
  if (url.search === '' && url.hash === '') return text.replace(/\/+$/, '');
  throw new UserError(`The base URL must end with its path, without ? or #: ${text}`);
}

/** An acquirer that moves no money: on this machine, without TLS, or the adapter's own sandbox. */
export function isSandboxUrl(baseUrl: string): boolean {
  const { protocol, hostname } = new URL(baseUrl);
  const isOfAdapter = Object.values(BASE_URLS).some(({ sandbox }) => new URL(sandbox).hostname === hostname);
  return protocol === 'http:' || isLoopbackHost(hostname) || isOfAdapter;
}

/**
 * A key with a line break (from a file or a shell) would be rejected by the provider, but only at the first payment.
 */
function validateServerKey(serverKey: string): string {
  if (/^[\x21-\x7e]+$/.test(serverKey)) return serverKey;
  throw new UserError('The server key must be printable characters without spaces or line breaks.');
}

/** In the order of their creation, by provider. */
export async function listAccounts(db: Queryable): Promise<ProviderAccount[]> {
  const { rows } = await db.query<ProviderAccount>(
    `select ${ACCOUNT_COLUMNS} from provider_accounts order by provider, created_at, id`,
  );
  return rows;
}

/** A second operator has approved it. @throws NotFoundError if there is no such proposed account */
export async function approveAccount(db: Queryable, accountId: string): Promise<ProviderAccount> {
  const { rows } = await db.query<ProviderAccount>(
    `update provider_accounts set status = 'enabled' where id = $1 and status = 'proposed'
     returning ${ACCOUNT_COLUMNS}`,
    [accountId],
  );
  return requireRow(rows, accountNotFound(accountId));
}

/** New payments do not use it; its existing payments continue. @throws NotFoundError if there is no such account */
export function disableAccount(db: Queryable, accountId: string): Promise<ProviderAccount> {
  return setStatus(db, accountId, 'disabled');
}

/** New payments use it again. @throws NotFoundError if there is no such account */
export function enableAccount(db: Queryable, accountId: string): Promise<ProviderAccount> {
  return setStatus(db, accountId, 'enabled');
}

async function setStatus(db: Queryable, accountId: string, status: 'enabled' | 'disabled'): Promise<ProviderAccount> {
  const { rows } = await db.query<ProviderAccount>(
    `update provider_accounts set status = $2 where id = $1 and status <> 'proposed' returning ${ACCOUNT_COLUMNS}`,
    [accountId, status],
  );
  return requireRow(rows, `${accountNotFound(accountId)} One that is proposed waits in lunas approvals list.`);
}

/**
 * Limits the calls to an account, of all processes together. Every process applies it within 2 seconds.
 * @param callsPerSecond null: no limit
 * @throws NotFoundError if there is no such account
 */
export async function setCallRate(
  db: Queryable,
  accountId: string,
  callsPerSecond: number | null,
): Promise<ProviderAccount> {
  const { rows } = await db.query<ProviderAccount>(
    `update provider_accounts set calls_per_second = $2 where id = $1 returning ${ACCOUNT_COLUMNS}`,
    [accountId, callsPerSecond],
  );
  return requireRow(rows, accountNotFound(accountId));
}

/**
 * Replaces the server key after the provider issued a new one. Every process uses it within 2 seconds.
 * @throws NotFoundError if there is no such account
 * @throws UserError if the server key is not valid
 */
export async function setServerKey(
  db: Queryable,
  sealer: Sealer,
  accountId: string,
  serverKey: string,
): Promise<ProviderAccount> {
  const valid = validateServerKey(serverKey);
  const { rows } = await db.query<ProviderAccount>(`select ${ACCOUNT_COLUMNS} from provider_accounts where id = $1`, [
    accountId,
  ]);
  const account = requireRow(rows, accountNotFound(accountId));
  // Neither adapter nor base URL of an account changes, except of the sandbox accounts of `lunas up`.
  const sealed = sealer.seal(valid, ['provider-server-key', accountId, account.adapter, account.baseUrl]);
  await db.query('update provider_accounts set sealed_server_key = $2 where id = $1', [accountId, sealed]);
  return account;
}

function accountNotFound(accountId: string): string {
  return `There is no provider account ${accountId}; lunas accounts list shows them.`;
}
