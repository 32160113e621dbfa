import { z } from 'zod';
import type { Environment } from '../config';
import { createMidtransProvider, type MidtransOptions } from './midtrans/midtrans-provider';
import type { PayoutNotifications, PayoutProvider } from './payout-provider';
import type { Provider } from './provider';
import { extractNotificationKeys, parseNotificationKeys, parsePayoutCredentials } from './snap/payout-credentials';
import { verifyPayoutNotification } from './snap/payout-notification';
import { PAYOUT_PROFILES, type PayoutProfile } from './snap/payout-profiles';
import { createSnapPayoutProvider } from './snap/snap-payout-provider';

/** The adapters of accounts for payments: values of `provider_accounts.adapter`. */
export const PAYMENT_ADAPTERS = ['midtrans'] as const;
export type PaymentAdapter = (typeof PAYMENT_ADAPTERS)[number];

/** The adapters of accounts for payouts. */
export const PAYOUT_ADAPTERS = ['snap-midtrans', 'snap-faspay'] as const;
export type PayoutAdapter = (typeof PAYOUT_ADAPTERS)[number];

/** A client with connections of its own. */
export type Closable<Client> = Client & { close(): Promise<void> };

/** What the adapter of an account for payments decides. */
export interface PaymentAdapterEntry {
  /** The acquirer's own addresses. */
  readonly baseUrls: Readonly<Record<Environment, string>>;
  /** Reads the server key of a new account; its message follows "The server key". */
  readonly serverKey: z.ZodType<string, string>;
  connect(account: MidtransOptions): Closable<Provider>;
}

/** What the adapter of an account for payouts decides. Each bank has addresses of its own for each client. */
export interface PayoutAdapterEntry {
  readonly profile: PayoutProfile;
  /** The part of the credentials that the API reads. @throws UserError if the credentials are not valid */
  notificationKeysOf(credentials: string): string;
  /** @throws UserError if the credentials are not valid */
  connect(account: { readonly baseUrl: string; readonly credentials: string }): Closable<PayoutProvider>;
  /** @param keys as `notificationKeysOf` returned them. @throws UserError if they are not valid */
  notifications(keys: string, notificationUrl: string): PayoutNotifications;
}

/** With a line break (from a file or a shell) the acquirer would reject it, but only at the first payment. */
const printable = z.string().regex(/^[\x21-\x7e]+$/, 'must be printable characters without spaces or line breaks');

/** The constraint `provider_accounts_adapter_of_purpose` of the database has the same pairs of purpose and adapter. */
export const ADAPTERS = {
  payments: {
    midtrans: {
      baseUrls: { sandbox: 'https://api.sandbox.midtrans.com', production: 'https://api.midtrans.com' },
      serverKey: printable,
      connect: createMidtransProvider,
    },
  },
  payouts: {
    'snap-midtrans': snapPayouts('midtrans'),
    'snap-faspay': snapPayouts('faspay'),
  },
} as const satisfies {
  readonly payments: Readonly<Record<PaymentAdapter, PaymentAdapterEntry>>;
  readonly payouts: Readonly<Record<PayoutAdapter, PayoutAdapterEntry>>;
};

function snapPayouts(name: keyof typeof PAYOUT_PROFILES): PayoutAdapterEntry {
  const profile = PAYOUT_PROFILES[name];
  return {
    profile,
    notificationKeysOf: extractNotificationKeys,
    connect: ({ baseUrl, credentials }) =>
      createSnapPayoutProvider({ profile: name, baseUrl, credentials: parsePayoutCredentials(credentials) }),
    notifications(keys, notificationUrl) {
      const verifier = { profile, keys: parseNotificationKeys(keys), notificationUrl };
      return { verifyPayoutNotification: (notification) => verifyPayoutNotification(notification, verifier) };
    },
  };
}

/**
 * The entry of an account for payments.
 * @throws Error if there is none: the account is never called with the protocol of another adapter
 */
export function paymentAdapterOf(account: AdapterOfAccount): PaymentAdapterEntry {
  return find(ADAPTERS.payments, 'payments', account);
}

/**
 * The entry of an account for payouts.
 * @throws Error if there is none: the account is never called with the protocol of another adapter
 */
export function payoutAdapterOf(account: AdapterOfAccount): PayoutAdapterEntry {
  return find(ADAPTERS.payouts, 'payouts', account);
}

/** The adapter that a row of `provider_accounts` names. */
interface AdapterOfAccount {
  readonly id: string;
  readonly adapter: string;
}

function find<Entry>(entries: Readonly<Record<string, Entry>>, purpose: string, { id, adapter }: AdapterOfAccount) {
  const entry = Object.hasOwn(entries, adapter) ? entries[adapter] : undefined;
  if (entry) return entry;
  throw new Error(`Provider account ${id} has the adapter ${adapter}, which this version does not have for ${purpose}`);
}
