import type { MerchantScope } from './key-access';

/** What an endpoint adds to the bodies of its webhooks (docs/contract.md#expand), in the order of the body. */
export const WEBHOOK_EXPANSIONS = [
  'metadata',
  'customer',
  'description',
  'return_url',
  'checkout_url',
  'qris',
  'expires_at',
  'refund',
  'late_payment',
  'failure_reason',
  'settlement',
  'fee',
] as const;
export type WebhookExpansion = (typeof WEBHOOK_EXPANSIONS)[number];

/** What `?expand=` adds to a payment. The worker, which sends webhooks, reads no payment links. */
export const EXPANSIONS = [...WEBHOOK_EXPANSIONS, 'payment_link'] as const;
export type Expansion = (typeof EXPANSIONS)[number];

/**
 * The scope that a key needs for a member. A user who makes an endpoint send it needs the right to give this scope to a
 * key. Data of customers has a scope of its own: `read` alone is for a screen that shows payments.
 */
const EXPANSION_SCOPES: Readonly<Partial<Record<Expansion, MerchantScope>>> = {
  metadata: 'read',
  customer: 'customers',
  description: 'read',
  return_url: 'read',
};

export function scopesOfExpansions(wanted: readonly Expansion[]): MerchantScope[] {
  return wanted.flatMap((name) => EXPANSION_SCOPES[name] ?? []);
}

/** The expansions that can have data of a customer. */
const PERSONAL: ReadonlySet<Expansion> = new Set(['metadata', 'customer', 'description']);

export function sendsPersonalData(wanted: readonly Expansion[]): boolean {
  return wanted.some((name) => PERSONAL.has(name));
}
