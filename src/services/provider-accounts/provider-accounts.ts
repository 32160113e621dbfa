import { v7 as uuidv7 } from 'uuid';
import { z } from 'zod';
import type { Environment } from '../../config';
import { keyFingerprint } from '../../crypto/key-fingerprint';
import type { Sealer } from '../../crypto/sealing';
import type { Queryable } from '../../db/connection/pool';
import { onlyRow, requireRow } from '../../db/connection/require-row';
import type { Scope } from '../../domain/actor';
import { ACCOUNT_STOPS, type AccountStop } from '../../domain/exception-kinds';
import type { ProviderName } from '../../domain/provider-capabilities';
import { ConflictError, InvalidError } from '../../errors';
import { ADAPTERS, paymentAdapterOf, type PaymentAdapter, type PayoutAdapter } from '../../providers/adapters';
import { urlFormatViolation } from '../../webhooks/ssrf-guard';
import type { AuditDependencies } from '../audit/audit';
import { findNmidHolder } from '../merchants/merchant-identity';
import type { Act } from '../operations/operation-spec';
import type { Reasons, RejectionTexts } from '../operations/rejections';
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
  /** The name in the customer's app, which each QR must have. Null: not known, so not compared. */
  readonly shownName: string | null;
  /** The only merchant whose payments it takes; null: shared by those without an account of their own. */
  readonly merchantId: string | null;
  /** Names the server key in force. */
  readonly keyFingerprint: string | null;
  readonly createdAt: Date;
}

export interface NewAccount extends Pick<ProviderAccount, 'adapter' | 'weight'> {
  readonly provider: ProviderName;
  /** Absent: a new one. */
  readonly id?: string;
  readonly serverKey: string;
  /** Absent: the acquirer's own address for the environment. */
  readonly baseUrl?: string | undefined;
  readonly environment: Environment;
  /** Required if it is proposed: the second operator sees whose account it is. */
  readonly nmid?: string | null | undefined;
  readonly shownName?: string | null | undefined;
  /** Absent or null: a shared account. The account of one merchant has an NMID and a name. */
  readonly merchantId?: string | null | undefined;
  /** Used for nothing until a second operator approves it. */
  readonly isProposed?: boolean;
}

export const ACCOUNT_COLUMNS = `id, purpose, provider, adapter, base_url as "baseUrl", weight, status,
  calls_per_second as "callsPerSecond", nmid, shown_name as "shownName", merchant_id as "merchantId",
  key_fingerprint as "keyFingerprint", created_at as "createdAt"`;

/** The server key is stored sealed. @throws UserError if the base URL or the server key is not valid */
export async function addAccount(db: Queryable, sealer: Sealer, account: NewAccount): Promise<ProviderAccount> {
  const { id = uuidv7(), serverKey } = account;
  const baseUrl = addressOf({ ...account, id });
  validateServerKey({ id, adapter: account.adapter }, serverKey);
  if (account.isProposed) requireNmid(account.nmid ?? null);
  const { rows } = await db.query<ProviderAccount>(
    `insert into provider_accounts (id, provider, adapter, base_url, sealed_server_key, weight, status, nmid,
       shown_name, merchant_id, key_fingerprint)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) returning ${ACCOUNT_COLUMNS}`,
    [
      id,
      account.provider,
      account.adapter,
      baseUrl,
      sealer.seal(serverKey, ['provider-server-key', id, account.adapter, baseUrl]),
      account.weight,
      account.isProposed ? 'proposed' : 'enabled',
      account.nmid,
      account.shownName,
      account.merchantId,
      keyFingerprint(serverKey),
    ],
  );
  return onlyRow(rows, 'The account was not written');
}

interface AccountAddress extends Pick<ProviderAccount, 'id' | 'adapter'> {
  readonly provider?: ProviderName | undefined;
  readonly baseUrl?: string | undefined;
  readonly environment: Environment;
}

/** Where it is called. Only acquirers have an address of their own for each environment. */
export function addressOf({ provider, baseUrl, environment, ...account }: AccountAddress): string {
  const ownUrl = provider === undefined ? '' : paymentAdapterOf(account).baseUrls[environment];
  return validateBaseUrl(baseUrl ?? ownUrl, environment);
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
export function validateServerKey(account: Pick<ProviderAccount, 'id' | 'adapter'>, serverKey: string): void {
  const { success, error } = paymentAdapterOf(account).serverKey.safeParse(serverKey);
  if (success) return;
  throw new InvalidError('serverKey', `The server key ${error.issues.map(({ message }) => message).join(', ')}.`);
}

/** Without it, a second operator would not see whose account it is, and no QR could be compared. */
export function requireNmid(nmid: string | null): string {
  if (nmid !== null) return nmid;
  throw new InvalidError('nmid', "In production, an account needs the NMID that the acquirer's dashboard shows.");
}

/** The NMID of an own account is that of its merchant. */
export const otherNmidReason = {
  other_nmid: { nmid: z.string(), merchantId: z.string(), own: z.string() },
} as const satisfies Reasons;
export const otherNmidMessage: RejectionTexts<typeof otherNmidReason> = {
  other_nmid: ({ nmid, merchantId, own }) => `NMID ${nmid} is not that of merchant ${merchantId}, which is ${own}.`,
};

/**
 * A shared account is compared at its request and when it is put in force: the merchant may be identified in between.
 * @throws ConflictError if a merchant has the NMID: customers of others would see the name of that merchant
 */
export async function requireOwnNmid(
  db: Queryable,
  { merchantId }: Pick<ProviderAccount, 'merchantId'>,
  nmid: string | null | undefined,
): Promise<void> {
  const isShared = merchantId === null && nmid !== null && nmid !== undefined;
  const holder = isShared ? await findNmidHolder(db, nmid, null) : null;
  if (holder === null) return;
  throw new ConflictError(
    'not_allowed',
    `NMID ${nmid} is that of merchant ${holder}: only an account of its own has it.`,
  );
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

/** @throws NotFoundError if there is no such account */
export async function findAccount(db: Queryable, accountId: string): Promise<ProviderAccount> {
  const { rows } = await db.query<ProviderAccount>(`select ${ACCOUNT_COLUMNS} from provider_accounts where id = $1`, [
    accountId,
  ]);
  return requireRow(rows, 'providerAccount', accountId);
}

/** What every operation on one of our accounts has. */
export const onAccount = {
  operator: 'all',
  path: z.object({ account: z.uuid() }),
  rejections: {},
  messages: {},
  load: ({ db }: AuditDependencies, _scope: Scope, { account }: { readonly account: string }) =>
    findAccount(db, account),
  target: ({ subject }: { readonly subject: ProviderAccount }) => subject.id,
} as const;
export type AccountAct = Pick<Act<AuditDependencies, ProviderAccount, object>, 'needs' | 'subject'>;

/** What an operation that receives a key needs. */
export interface SealingDependencies extends AuditDependencies {
  /** Asked for only if there is a key to seal. */
  readonly loadSealer: () => Promise<Sealer>;
}

/** The request of two operators is outdated. */
export const outdatedReason = { superseded: {} } as const satisfies Reasons;
export const outdatedMessage = {
  superseded: () =>
    'The account has another server key, NMID, name or address now than this request: request it again.',
} as const;
