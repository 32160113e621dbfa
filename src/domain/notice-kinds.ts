import type { BankAccountStatus } from './bank-account-transitions';

/** What every owner of a merchant has to see: a change of who can enter, what they may do, or where money goes. */
export type NoticeKind =
  /** A bank account entered the status. */
  | `bank_account.${BankAccountStatus}`
  /** A member changed how they sign in. */
  | 'security.factor_changed'
  /** A member used a recovery code instead of the second factor. */
  | 'security.recovery_code_used'
  /** A link was made that replaces the credentials of a member. */
  | 'security.login_reset'
  /** A member may approve payouts since then. */
  | 'security.member_authorised'
  /** A member became an owner, or is none any more. */
  | 'security.owner_changed'
  | 'security.key_created'
  /** An endpoint was created, or got another URL or secret. */
  | 'security.webhook_changed';
