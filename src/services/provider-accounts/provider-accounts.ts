import { v7 as uuidv7 } from 'uuid';
import type { Environment } from '../../config';
import { keyFingerprint } from '../../crypto/key-fingerprint';
import type { Sealer } from '../../crypto/sealing';
import type { Queryable } from '../../db/connection/pool';
import { onlyRow, requireRow } from '../../db/connection/require-row';
import { DeclaredAction } from '../../domain/declared-action';
import { ACCOUNT_STOPS, type AccountStop } from '../../domain/exception-kinds';
import type { ProviderName } from '../../domain/provider-capabilities';
import { ConflictError, InvalidError } from '../../errors';
import {
  ADAPTERS,
  paymentAdapterOf,
  type PaymentAdapter,
  type PaymentAdapterEntry,
  type PayoutAdapter,
} from '../../providers/adapters';
import { urlFormatViolation } from '../../webhooks/ssrf-guard';
import { assertUrl, isLoopbackHost } from './validate-url';

/** One of our accounts at a provider. No query returns the server key. */
export interface ProviderAccount {
  readonly id: string;
  readonly purpose: 'payments' | 'payouts';
  /** Null: an account for payouts. */
  readonly provider: ProviderName | null;
  readonly adapter: PaymentAdapter | PayoutAdapter;
  readonly baseUrl: string;
  /** The share of new payments, relative to the provider's other enabled accounts. */
  readonly weight: number;
  /** `proposed`: used for nothing until a second operator approves it. */
  readonly status: 'proposed' | 'enabled' | 'disabled';
  /** The limit of all processes together; null: none. */
  readonly callsPerSecond: number | null;
  /** Whose account it is: the merchant's national id, which each QR must have. Null: not known, so not compared. */
  readonly nmid: string | null;
  /** Names the server key in force. */
  readonly keyFingerprint: string | null;
  readonly createdAt: Date;
}

/** What a second operator approves: the key and the merchant of an account. */
export interface AccountKey {
  readonly accountId: string;
  readonly keyFingerprint: string | null;
  readonly nmid: string | null;
}

/** The key of a new account, and where the key is sent. */
export interface ProposedAccount extends AccountKey, Pick<ProviderAccount, 'adapter' | 'baseUrl'> {}

export interface NewAccount extends Pick<ProviderAccount, 'weight'> {
  readonly provider: ProviderName;
  readonly adapter: PaymentAdapter;
  /** Absent: a new one. */
  readonly id?: string;
  readonly serverKey: string;
  /** Absent: the acquirer's own address for the environment. */
  readonly baseUrl?: string | undefined;
  readonly environment: Environment;
  /** Required if it is proposed: the second operator sees whose account it is. */
  readonly nmid?: string | undefined;
  /** Used for nothing until a second operator approves it. */
  readonly isProposed?: boolean;
}

export const ACCOUNT_COLUMNS = `id, purpose, provider, adapter, base_url as "baseUrl", weight, status,
  calls_per_second as "callsPerSecond", nmid, key_fingerprint as "keyFingerprint", created_at as "createdAt"`;

export const ADD_ACCOUNT = new DeclaredAction('account.create');

/** The server key is stored sealed. @throws UserError if the base URL or the server key is not valid */
export async function addAccount(db: Queryable, sealer: Sealer, account: NewAccount): Promise<ProviderAccount> {
  const { environment } = account;
  const adapter = ADAPTERS.payments[account.adapter];
  const baseUrl = validateBaseUrl(account.baseUrl ?? adapter.baseUrls[environment], environment);
  const id = account.id ?? uuidv7();
  const { serverKey } = account;
  validateServerKey(adapter, serverKey);
  if (account.isProposed) requireNmid(account.nmid ?? null);
  const { rows } = await db.query<ProviderAccount>(
    `insert into provider_accounts (id, provider, adapter, base_url, sealed_server_key, weight, status, nmid,
       key_fingerprint)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9) returning ${ACCOUNT_COLUMNS}`,
    [
      id,
      account.provider,
      account.adapter,
      baseUrl,
      sealer.seal(serverKey, ['provider-server-key', id, account.adapter, baseUrl]),
      account.weight,
      account.isProposed ? 'proposed' : 'enabled',
      account.nmid,
      keyFingerprint(serverKey),
    ],
  );
  return onlyRow(rows, 'The account was not written');
}

/** The adapter appends paths to the base URL, so a query or a fragment is rejected. */
export function validateBaseUrl(text: string, environment: Environment): string {
  const url = new URL(assertUrl(text, urlFormatViolation(text, environment)));
  if (environment === 'production' && isSandboxUrl(text)) {
    throw new InvalidError('url', `The base URL is that of a sandbox, which production does not use: ${text}`);
  }
  if (url.search === '' && url.hash === '') return text.replace(/\/+$/, '');
  throw new InvalidError('url', `The base URL must end with its path, without ? or #: ${text}`);
}

/** An acquirer that moves no money: on this machine, without TLS, or an adapter's own sandbox. */
export function isSandboxUrl(baseUrl: string): boolean {
  const { protocol, hostname } = new URL(baseUrl);
  const isOfAdapter = Object.values(ADAPTERS.payments).some(
    ({ baseUrls }) => new URL(baseUrls.sandbox).hostname === hostname,
  );
  return protocol === 'http:' || isLoopbackHost(hostname) || isOfAdapter;
}

/** @throws InvalidError */
function validateServerKey(adapter: PaymentAdapterEntry, serverKey: string): void {
  const { success, error } = adapter.serverKey.safeParse(serverKey);
  if (success) return;
  throw new InvalidError('serverKey', `The server key ${error.issues.map(({ message }) => message).join(', ')}.`);
}

/** Without it, a second operator would not see whose account it is, and no QR could be compared. */
function requireNmid(nmid: string | null): string {
  if (nmid !== null) return nmid;
  throw new InvalidError('nmid', "In production, an account needs the NMID that the acquirer's dashboard shows.");
}

/** In the order of their creation, by provider. */
export async function listAccounts(db: Queryable): Promise<ProviderAccount[]> {
  const { rows } = await db.query<ProviderAccount>(
    `select ${ACCOUNT_COLUMNS} from provider_accounts order by provider, created_at, id`,
  );
  return rows;
}

/** The enabled accounts and where they are. The role of every process may read this. */
export async function listEnabledUrls(db: Queryable): Promise<Pick<ProviderAccount, 'id' | 'baseUrl'>[]> {
  const { rows } = await db.query<Pick<ProviderAccount, 'id' | 'baseUrl'>>(
    `select id, base_url as "baseUrl" from provider_accounts
     where status = 'enabled' order by provider, created_at, id`,
  );
  return rows;
}

/** An account that a worker has stopped, and its open exception. */
export interface StoppedAccount {
  readonly id: string;
  readonly cause: AccountStop;
}

/** Undefined if the role of the process must not read exceptions. */
export async function listStoppedAccounts(db: Queryable): Promise<StoppedAccount[] | undefined> {
  const permission = "select has_table_privilege('exceptions', 'select') as granted";
  const { granted } = onlyRow((await db.query<{ granted: boolean }>(permission)).rows);
  if (!granted) return undefined;
  const { rows } = await db.query<StoppedAccount>(
    `select distinct account.id, exception.kind as cause
     from exceptions exception join provider_accounts account on account.id = exception.provider_account_id
     where exception.resolved_at is null and exception.kind = any($1) and account.status = 'disabled'
     order by account.id, cause`,
    [ACCOUNT_STOPS],
  );
  return rows;
}

export const APPROVE_ACCOUNT = new DeclaredAction('account.approve');

/** A second operator has approved it. @throws UserError if no proposed account has all of this */
export async function approveAccount(db: Queryable, approved: ProposedAccount): Promise<ProviderAccount> {
  const { rows } = await db.query<ProviderAccount>(
    `update provider_accounts set status = 'enabled'
     where id = $1 and status = 'proposed' and key_fingerprint is not distinct from $2
       and nmid is not distinct from $3 and adapter = $4 and base_url = $5
     returning ${ACCOUNT_COLUMNS}`,
    [approved.accountId, approved.keyFingerprint, approved.nmid, approved.adapter, approved.baseUrl],
  );
  return requireApproved(rows);
}

function requireApproved([account]: readonly ProviderAccount[]): ProviderAccount {
  if (account) return account;
  throw new ConflictError(
    'superseded',
    'The account has another server key, NMID or address now than this request: request it again.',
  );
}

export const DISABLE_ACCOUNT = new DeclaredAction('account.disable');

/** New payments do not use it; its existing payments continue. @throws NotFoundError if there is no such account */
export function disableAccount(db: Queryable, accountId: string): Promise<ProviderAccount> {
  return setStatus(db, accountId, 'disabled');
}

export const ENABLE_ACCOUNT = new DeclaredAction('account.enable');

/** New payments use it again. @throws NotFoundError if there is no such account */
export function enableAccount(db: Queryable, accountId: string): Promise<ProviderAccount> {
  return setStatus(db, accountId, 'enabled');
}

async function setStatus(db: Queryable, accountId: string, status: 'enabled' | 'disabled'): Promise<ProviderAccount> {
  const { rows } = await db.query<ProviderAccount>(
    `update provider_accounts set status = $2 where id = $1 and status <> 'proposed' returning ${ACCOUNT_COLUMNS}`,
    [accountId, status],
  );
  return requireRow(rows, 'providerAccount', accountId);
}

export const SET_CALL_RATE = new DeclaredAction('account.set_rate');

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
  return requireRow(rows, 'providerAccount', accountId);
}

/** A new server key of an account. */
export interface NewServerKey {
  readonly accountId: string;
  readonly serverKey: string;
  /** Absent: that of the account. */
  readonly nmid: string | undefined;
}

export const SET_SERVER_KEY = new DeclaredAction('account.set_key');

/**
 * Replaces the server key after the provider issued a new one. Every process uses it within 2 seconds.
 * @throws NotFoundError if there is no such account
 * @throws UserError if the server key is not valid
 */
export async function setServerKey(db: Queryable, sealer: Sealer, change: NewServerKey): Promise<ProviderAccount> {
  const account = await findAccount(db, change.accountId);
  const { rows } = await db.query<ProviderAccount>(
    `update provider_accounts set sealed_server_key = $2, key_fingerprint = $3, nmid = coalesce($4, nmid) where id = $1
     returning ${ACCOUNT_COLUMNS}`,
    [account.id, sealFor(account, sealer, change.serverKey), keyFingerprint(change.serverKey), change.nmid],
  );
  return requireRow(rows, 'providerAccount', account.id);
}

/** A server key that waits for a second operator, and the NMID of the account before. */
export interface ProposedServerKey {
  readonly account: ProviderAccount;
  readonly keyFingerprint: string;
  readonly nmid: string;
}

export const PROPOSE_SERVER_KEY = new DeclaredAction('account.propose_key');

/**
 * Stores a server key that is used for nothing until a second operator approves it. It replaces an earlier proposal.
 * @throws NotFoundError if there is no such account
 * @throws UserError if the server key is not valid, if the account is itself proposed, or if its NMID is not known
 */
export async function proposeServerKey(
  db: Queryable,
  sealer: Sealer,
  change: NewServerKey,
): Promise<ProposedServerKey> {
  const account = await findAccount(db, change.accountId);
  const nmid = requireNmid(change.nmid ?? account.nmid);
  const proposed = { account, keyFingerprint: keyFingerprint(change.serverKey), nmid };
  const { rowCount } = await db.query(
    `update provider_accounts set proposed_server_key = $2, proposed_key_fingerprint = $3, proposed_nmid = $4
     where id = $1 and status <> 'proposed'`,
    [account.id, sealFor(account, sealer, change.serverKey), proposed.keyFingerprint, nmid],
  );
  if (rowCount === 1) return proposed;
  const text = 'The account is proposed: reject its request, and add an account with the other key.';
  throw new ConflictError('not_allowed', text);
}

/** A second operator has approved the proposed key. @throws UserError if another key or NMID is proposed by now */
export async function approveServerKey(db: Queryable, approved: AccountKey): Promise<ProviderAccount> {
  const { rows } = await db.query<ProviderAccount>(
    `update provider_accounts set sealed_server_key = proposed_server_key, key_fingerprint = proposed_key_fingerprint,
       nmid = proposed_nmid, proposed_server_key = null, proposed_key_fingerprint = null, proposed_nmid = null
     where id = $1 and status <> 'proposed' and proposed_key_fingerprint = $2 and proposed_nmid = $3
     returning ${ACCOUNT_COLUMNS}`,
    [approved.accountId, approved.keyFingerprint, approved.nmid],
  );
  return requireApproved(rows);
}

async function findAccount(db: Queryable, accountId: string): Promise<ProviderAccount> {
  const { rows } = await db.query<ProviderAccount>(`select ${ACCOUNT_COLUMNS} from provider_accounts where id = $1`, [
    accountId,
  ]);
  return requireRow(rows, 'providerAccount', accountId);
}

/** Neither adapter nor base URL of an account changes, except of the sandbox accounts of `lunas up`. */
function sealFor(account: ProviderAccount, sealer: Sealer, serverKey: string): string {
  if (account.purpose === 'payouts') {
    const text = 'An account for payouts has no server key: disable it, and add one with the new credentials.';
    throw new ConflictError('not_allowed', text);
  }
  const { id, adapter, baseUrl } = account;
  validateServerKey(paymentAdapterOf(account), serverKey);
  return sealer.seal(serverKey, ['provider-server-key', id, adapter, baseUrl]);
}
