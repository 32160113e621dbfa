/** Whose pages a login is for: merchants' or operators'. */
export const REALMS = ['merchant', 'operator'] as const;
export type Realm = (typeof REALMS)[number];

/**
 * How far a browser is. `passkey`: it waits for a passkey of any user. `password`: the second factor is missing.
 * `enrol`: a second factor has to be set first. `full`: signed in.
 */
export type SessionStage = 'passkey' | 'password' | 'enrol' | 'full';

/** How the session was opened. A development link is of a sandbox on loopback. */
export type SignInMethod = 'password' | 'passkey' | 'development_link';

/** The languages of the pages. */
export const LANGUAGES = ['id', 'en'] as const;
export type Language = (typeof LANGUAGES)[number];

/** WIB, WITA and WIT. */
export const TIME_ZONES = ['Asia/Jakarta', 'Asia/Makassar', 'Asia/Jayapura'] as const;
export type TimeZone = (typeof TIME_ZONES)[number];

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** A session ends after `idleMs` without a request, and `absoluteMs` after the sign-in at the latest. */
export const SESSION_LIMITS: Readonly<Record<Realm, { readonly idleMs: number; readonly absoluteMs: number }>> = {
  merchant: { idleMs: 12 * HOUR_MS, absoluteMs: 7 * DAY_MS },
  operator: { idleMs: HOUR_MS, absoluteMs: 12 * HOUR_MS },
};

/** A session's `last_seen_at` is written at most once in this time. */
export const LAST_SEEN_INTERVAL_MS = MINUTE_MS;

/**
 * How old a step-up may be: when a form is opened, and when it is sent. So a form can be filled in without a step-up in
 * between, whose page would have to store its fields.
 */
export const STEP_UP_LIMITS = { formMs: 5 * MINUTE_MS, postMs: 15 * MINUTE_MS } as const;

/** A refund needs a step-up if it and the refunds that its user requested within `windowMs` are above the sum. */
export const REFUND_STEP_UP = { aboveRupiah: 2_000_000, windowMs: HOUR_MS } as const;
