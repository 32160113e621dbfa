import type { MerchantScope } from '../../../domain/key-access';

/** When a new key ends: never, after days, or on a day. */
export const EXPIRIES = ['none', '30', '90', '365', 'date'] as const;

/** For how many hours an old key can be used beside its new one. */
export const OVERLAPS = ['0', '1', '24', '72'] as const;

/** The checkbox of a scope. */
export const scopeField = <Scope extends MerchantScope>(scope: Scope): `scope_${Scope}` => `scope_${scope}`;

/** Those that are checked at first: what a shop needs to take payments. */
export const FIRST_SCOPES: readonly MerchantScope[] = ['read', 'create'];

/** What has just been done with a key. */
export const DONE_CODES = ['saved', 'revoked'] as const;
export type DoneCode = (typeof DONE_CODES)[number];
