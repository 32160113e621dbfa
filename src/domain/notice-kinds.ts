import type { BankAccountStatus } from './bank-account-transitions';

/**
 * What every owner of a merchant has to see: a change of who can enter, what they may do, or where money goes. A member
 * sees those of the own login.
 */
export type NoticeKind =
  /** A bank account entered the status. */
  | `bank_account.${BankAccountStatus}`
  /** A payout has failed or come back, or waits for another member. */
  | 'payout.failed'
  | 'payout.returned'
  | 'payout.waiting_for_approval'
  /** A member wants to change when the balance is paid out without a request, and waits for another one. */
  | 'payout.schedule_proposed'
  /** A member changed when the balance is paid out without a request. */
  | 'payout.schedule_changed'
  /** A member changed how they sign in. */
  | 'security.factor_changed'
  /** A member used a recovery code instead of the second factor. */
  | 'security.recovery_code_used'
  /** Several wrong codes of a member in a day. */
  | 'security.wrong_codes'
  /** A link was made that replaces the credentials of a member. */
  | 'security.login_reset'
  /** A member may approve payouts since then. */
  | 'security.member_authorised'
  /** A member became an owner, or is none any more. */
  | 'security.owner_changed'
  | 'security.key_created'
  /** An endpoint was created, or got another URL or secret. */
  | 'security.webhook_changed'
  /** Customers see another logo on the checkout page, or none; or another colour. */
  | 'security.logo_changed'
  | 'security.accent_changed';

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
