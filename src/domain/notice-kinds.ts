import type { BankAccountStatus } from './bank-account-transitions';

/**
 * What a notice is about. `money`: where money goes. `access`: who can enter, what they may do, and where customers and
 * their data are sent. A notice of these two is shown for a day, even if it was closed, and none of them is cut. Of the
 * others only the newest are shown.
 */
type NoticeClass = 'money' | 'access' | 'other';

/**
 * What every owner of a merchant has to see, by its class. A member sees those of the own login. Triggers of the schema
 * write them.
 */
export const NOTICE_KINDS = {
  /** A bank account entered the status. What was withdrawn or rejected never received money. */
  'bank_account.pending_inquiry': 'money',
  'bank_account.pending_approval': 'money',
  'bank_account.active': 'money',
  'bank_account.suspended': 'money',
  'bank_account.rejected': 'other',
  'bank_account.withdrawn': 'other',
  'bank_account.replaced': 'money',
  'bank_account.disabled': 'money',
  /** A payout has failed or come back, or waits for another member. */
  'payout.failed': 'money',
  'payout.returned': 'money',
  'payout.waiting_for_approval': 'money',
  /** A member wants to change when the balance is paid out without a request, and waits for another one. */
  'payout.schedule_proposed': 'money',
  /** A member changed when the balance is paid out without a request. */
  'payout.schedule_changed': 'money',
  /** The order of a payment has another amount at the provider: a customer may have paid it. */
  'payment.other_amount': 'money',
  /** A member changed how they sign in. */
  'security.factor_changed': 'access',
  /** A member used a recovery code instead of the second factor. */
  'security.recovery_code_used': 'access',
  /** Several wrong codes of a member in a day. */
  'security.wrong_codes': 'access',
  /** A link was made that replaces the credentials of a member. */
  'security.login_reset': 'access',
  /** A member may approve payouts since then. */
  'security.member_authorised': 'access',
  /** A member became an owner, or is none any more. */
  'security.owner_changed': 'access',
  /** Another member joined, left, or got another role. */
  'security.member_changed': 'access',
  'security.key_created': 'access',
  /** A key may be used from other networks, or was revoked. */
  'security.key_changed': 'access',
  /** An endpoint was created or enabled, got another URL or secret, or customers were added to its bodies. */
  'security.webhook_changed': 'access',
  /** The checkout page leads elsewhere, names another contact, or may be shown in other frames. */
  'security.return_url_changed': 'access',
  'security.contact_changed': 'access',
  'security.origins_changed': 'access',
  /** Customers see another logo on the checkout page, or none; or another colour. */
  'security.logo_changed': 'other',
  'security.accent_changed': 'other',
} as const satisfies Readonly<
  Record<`bank_account.${BankAccountStatus}`, NoticeClass> &
    Record<`payout.${string}` | `payment.${string}` | `security.${string}`, NoticeClass>
>;

export type NoticeKind = keyof typeof NOTICE_KINDS;

/** The kinds of money and access. */
export const GUARDED_NOTICE_KINDS = Object.entries(NOTICE_KINDS).flatMap(([kind, about]) =>
  about === 'other' ? [] : [kind],
);

/** How long a notice of money or access is shown although it was closed: as long as an account waits for payouts. */
export const GUARDED_NOTICE_HOURS = 24;

/** What a member changes of their sign-in. */
export type ChangedCredential = 'password' | 'authenticator_app' | 'passkey' | 'recovery_codes';

/** How many wrong codes of a user in a day make a notice. */
export const WRONG_CODES_OF_NOTICE = 5;

/** The kinds about a login, which its user sees too. */
export const LOGIN_NOTICE_KINDS = [
  'security.factor_changed',
  'security.recovery_code_used',
  'security.wrong_codes',
  'security.login_reset',
] as const satisfies readonly NoticeKind[];
