import type { ProviderName } from './provider-capabilities';

export const LINK_KINDS = ['once', 'reusable'] as const;
/** `once`: the link ends with its first paid payment. */
export type LinkKind = (typeof LINK_KINDS)[number];

export const LINK_STATUSES = ['active', 'paid', 'closed', 'expired'] as const;
export type LinkStatus = (typeof LINK_STATUSES)[number];

/** What of a link decides its status. */
export interface LinkState {
  readonly kind: LinkKind;
  /** Whether one of its payments was paid. A refund does not change it. */
  readonly hasPaid: boolean;
  readonly closedAt: Date | null;
  readonly expiresAt: Date | null;
}

const SECOND_MS = 1_000;

/** A payment has at least this time, so a link with less left takes none. */
export const MIN_LINK_REST_SECONDS = 60;

/** The status of a link: the first that holds. `payment_link_status` in SQL is alike. */
export function linkStatusOf({ kind, hasPaid, closedAt, expiresAt }: LinkState, nowMs: number): LinkStatus {
  if (kind === 'once' && hasPaid) return 'paid';
  if (closedAt !== null) return 'closed';
  const restMs = expiresAt === null ? Infinity : expiresAt.getTime() - nowMs;
  return restMs < MIN_LINK_REST_SECONDS * SECOND_MS ? 'expired' : 'active';
}

/** The longest title, in characters: the description of each payment has it too. */
export const MAX_LINK_TITLE_CHARACTERS = 100;

const CONTROL_CHARACTER = /\p{Cc}|\p{Zl}|\p{Zp}/u;

/** Whether the text is one line that can be the heading of a link. */
export function isLinkTitle(text: string): boolean {
  const characters = Array.from(text).length;
  const isShort = characters >= 1 && characters <= MAX_LINK_TITLE_CHARACTERS;
  return isShort && text.trim() !== '' && !CONTROL_CHARACTER.test(text);
}

/** The bounds of an open amount if the merchant names none, in rupiah. */
export const OPEN_AMOUNT_RUPIAH = { minimum: 1_000, maximum: 10_000_000 } as const;

const MINUTE_MS = 60 * SECOND_MS;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** How far the end of a link may be ahead. */
export const LINK_END_MS = { min: 5 * MINUTE_MS, max: 366 * DAY_MS } as const;

/** Strangers make payments by a link: what one link may cost. */
export const LINK_LIMITS = {
  /** New payments within a minute. */
  perMinute: 20,
  /** Payments that are not final. */
  open: 200,
  /** Payments in all. */
  payments: 10_000,
} as const;

/** What a link asks for: an amount, or one that the customer chooses. */
export type LinkAmount =
  | { readonly amountRupiah: number; readonly minimumRupiah: null; readonly maximumRupiah: null }
  | { readonly amountRupiah: null; readonly minimumRupiah: number; readonly maximumRupiah: number };

/** The amount and the bounds that a merchant names for a new link. Null: not named. */
export interface NamedLinkAmount {
  readonly amountRupiah: number | null;
  readonly minimumRupiah: number | null;
  readonly maximumRupiah: number | null;
}

export type LinkAmountRejection = 'amount_beside_bounds' | 'minimum_above_maximum';

/** The amount of a new link. Bounds that the merchant does not name are `OPEN_AMOUNT_RUPIAH`. */
export function linkAmountOf(named: NamedLinkAmount): LinkAmount | LinkAmountRejection {
  const { amountRupiah, minimumRupiah, maximumRupiah } = named;
  if (amountRupiah !== null) {
    if (minimumRupiah !== null || maximumRupiah !== null) return 'amount_beside_bounds';
    return { amountRupiah, minimumRupiah, maximumRupiah };
  }
  const bounds = {
    minimumRupiah: minimumRupiah ?? OPEN_AMOUNT_RUPIAH.minimum,
    maximumRupiah: maximumRupiah ?? OPEN_AMOUNT_RUPIAH.maximum,
  };
  return bounds.minimumRupiah > bounds.maximumRupiah ? 'minimum_above_maximum' : { amountRupiah, ...bounds };
}

interface OtherLinkTerms {
  readonly kind: LinkKind;
  readonly title: string;
  readonly merchantReferenceId: string | null;
  readonly provider: ProviderName;
  /** Null: the link does not end by itself. A whole second. */
  readonly expiresAt: Date | null;
  /** How long each payment can be paid; null: as the policy of the provider has it. */
  readonly paymentExpiresInSeconds: number | null;
  readonly returnUrl: string | null;
}

/** What a link was made with, and never changes. */
export type LinkTerms = LinkAmount & OtherLinkTerms;

/** What a merchant asks for in a new link. */
export type NewLinkTerms = NamedLinkAmount & OtherLinkTerms;

/**
 * How long a payment of the link can be paid, in seconds: no longer than the link has left. Null: as the policy has it.
 */
export function expiryOfLinkPayment(
  { paymentExpiresInSeconds, expiresAt }: Pick<LinkTerms, 'paymentExpiresInSeconds' | 'expiresAt'>,
  policySeconds: number,
  nowMs: number,
): number | null {
  if (expiresAt === null) return paymentExpiresInSeconds;
  const restSeconds = Math.floor((expiresAt.getTime() - nowMs) / SECOND_MS);
  return restSeconds < (paymentExpiresInSeconds ?? policySeconds) ? restSeconds : paymentExpiresInSeconds;
}
