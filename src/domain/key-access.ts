/**
 * What a merchant's key can be restricted to. Each route of the merchants needs one of the first four. `customers` adds
 * what the merchant sent about a customer (`?expand=customer`): a key of a stock screen needs `read` alone.
 */
export const MERCHANT_SCOPES = ['read', 'create', 'cancel', 'refund', 'customers'] as const;
export type MerchantScope = (typeof MERCHANT_SCOPES)[number];

/** The scopes of an operator's key, for the routes of the operator API. */
export const OPERATOR_SCOPES = ['read', 'settle', 'fail', 'refund', 'resolve', 'redeliver', 'payout'] as const;
export type OperatorScope = (typeof OPERATOR_SCOPES)[number];

/** What an operator's key needs for an act: a scope, or to have no scopes at all. */
export type RequiredScope = OperatorScope | 'all';

/** @param scopes of the key; null: every scope */
export function hasScope(scopes: readonly string[] | null, required: MerchantScope | RequiredScope): boolean {
  return scopes === null || scopes.includes(required);
}

/** The restrictions of a key. Without any, it can do everything, from anywhere, until it is revoked. */
export interface KeyAccess<Scope extends string> {
  /** In CIDR form; empty: the key may be used from any address. */
  readonly allowedNetworks: readonly string[];
  /** Null: every scope. */
  readonly scopes: readonly Scope[] | null;
  /** Null: the key does not expire. */
  readonly expiresAt: Date | null;
}

/** The restrictions of a new key; absent ones do not restrict it. */
export interface NewKeyAccess<Scope extends string> {
  /** Addresses and networks that satisfy `isNetwork`. */
  readonly allowedNetworks?: readonly string[] | undefined;
  readonly scopes?: readonly Scope[] | undefined;
  readonly expiresAt?: Date | undefined;
}

/** What a key can be used for now. */
export type KeyState = 'active' | 'expiring' | 'expired' | 'revoked';

const WEEK_MS = 7 * 24 * 3_600_000;

/** When a key ends. */
interface KeyEnds {
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
}

/** `expiring`: within seven days. */
export function keyStateOf({ revokedAt, expiresAt }: KeyEnds, nowMs: number): KeyState {
  if (revokedAt) return 'revoked';
  if (!expiresAt) return 'active';
  const leftMs = expiresAt.getTime() - nowMs;
  if (leftMs <= 0) return 'expired';
  return leftMs < WEEK_MS ? 'expiring' : 'active';
}
