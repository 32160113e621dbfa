import { types } from 'node:util';

/** An error that the user of the command can correct: printed as one line, without a stack. */
export class UserError extends Error {
  override readonly name = 'UserError';
}

/** A failure without a response of its own. Its message is for the log, and has nothing of a body or a key. */
export class ExplainedFailure extends Error {}

/** What an id can name, with the noun of a message. */
const OBJECT_NOUNS = {
  approval: 'request',
  approvalRule: 'rule',
  bankAccount: 'bank account',
  delivery: 'delivery',
  endpoint: 'endpoint',
  exception: 'open exception',
  identity: 'identity of merchant',
  invitation: 'open invitation',
  invoice: 'invoice',
  key: 'key',
  logo: 'logo of merchant',
  merchant: 'merchant',
  notice: 'notice',
  operator: 'operator',
  payment: 'payment',
  paymentLink: 'payment link',
  payout: 'payout',
  policy: 'policy',
  providerAccount: 'provider account',
  recordedRequest: 'recorded request',
  passkey: 'passkey',
  session: 'session',
  user: 'user',
} as const;

export type ObjectKind = keyof typeof OBJECT_NOUNS;

/** The named object does not exist, or no longer accepts the operation. */
export class NotFoundError extends UserError {
  constructor(
    readonly kind: ObjectKind,
    readonly id: string,
  ) {
    super(`There is no ${OBJECT_NOUNS[kind]} ${id}.`);
  }
}

/** The payment is only in a file of the archive. */
export class ArchivedError extends NotFoundError {
  override readonly message: string;

  /** @param file its name */
  constructor(
    id: string,
    readonly file: string,
  ) {
    super('payment', id);
    this.message = `Payment ${id} is in the archive: ${file}.`;
  }
}

/** An order id of the merchant's own, which may be that of several payments, was given instead of a payment. */
export class OrderIdError extends NotFoundError {
  override readonly message: string;

  /** @param references of its payments */
  constructor(id: string, references: readonly string[]) {
    super('payment', id);
    const name = references.length === 1 ? 'name the payment by its reference_id' : 'name one by its reference_id';
    this.message = `${id} is the order id of ${references.join(', ')}: ${name}.`;
  }
}

export type ConflictReason =
  /** The state of the object, or another rule, excludes the operation. */
  | 'not_allowed'
  /** The id or the name is that of several objects, or of another one. */
  | 'ambiguous'
  | 'operator_exists'
  | 'key_exists'
  /** A later change replaced what the request refers to. */
  | 'superseded'
  | 'approval_required'
  | 'operator_key_required'
  | 'endpoint_disabled'
  | 'endpoint_deleted'
  | 'ledger_not_verified'
  | 'ledger_break'
  | 'archive_changed'
  /** A file of the archive is not as recorded, or not readable. */
  | 'archive_file'
  /** A payment of the archive's file is not as it was written. */
  | 'archive_payment_changed'
  /** PostgreSQL lacks what a workflow has done. */
  | 'record_behind_workflow'
  /** Recovery mode cannot end yet. */
  | 'not_recovered'
  | 'outcome_not_reached'
  | 'old_master_key'
  | 'temporal_not_set_up'
  /** The merchant has a bank account that waits for its inquiry or its approval. */
  | 'proposal_open'
  /** The holder's name at the bank differs from the merchant's, and was not repeated. */
  | 'name_not_confirmed'
  /** The user is a member of the merchant for less than a day. */
  | 'member_too_new'
  /** No account of ours at a bank executes payouts. */
  | 'no_payouts_account';

/** The operation is not possible now. The message has the reason for people, and `data` what a hint needs. */
export class ConflictError extends UserError {
  constructor(
    readonly reason: ConflictReason,
    message: string,
    readonly data: Readonly<Record<string, string>> = {},
  ) {
    super(message);
  }
}

export type InputField =
  'accountNumber' | 'amount' | 'bankCode' | 'before' | 'directory' | 'nmid' | 'password' | 'serverKey' | 'url';

/** A value that the caller gave violates a rule. */
export class InvalidError extends UserError {
  constructor(
    readonly field: InputField,
    message: string,
  ) {
    super(message);
  }
}

export type SignInReason =
  /** The e-mail or the password is wrong. */
  | 'credentials'
  /** The code is wrong, or was used before. */
  | 'code'
  /** The passkey is unknown, or its response is not valid. */
  | 'passkey'
  /** The browser has to sign in again from the start. */
  | 'session_ended'
  /** The session is complete, and the proof of identity too old for what it requests. */
  | 'not_stepped_up'
  /** A limit of attempts is reached. */
  | 'throttled'
  /** The process compares too many passwords now. */
  | 'busy'
  /** The store of the limits is away: without it no attempt is accepted. */
  | 'unavailable'
  /** The link was used before. */
  | 'link_used'
  /** The link is unknown, withdrawn or expired. */
  | 'link_invalid';

/** A step of signing in is rejected. Pages have a text for each reason. */
export class SignInError extends UserError {
  constructor(
    readonly reason: SignInReason,
    message: string,
    readonly retryAfterSeconds?: number,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The message of a thrown value. An error without a message, such as an aborted request, is described by its name. */
export function messageOf(error: unknown): string {
  // `instanceof` fails for errors of another realm: Jest gives each test file its own.
  return error instanceof Error || types.isNativeError(error) ? error.message || error.name : String(error);
}

/** The code that Node.js (`ECONNREFUSED`) or PostgreSQL (`42P01`) gave the error; undefined if it has none. */
export function codeOf(error: unknown): string | undefined {
  const hasCode = typeof error === 'object' && error !== null && 'code' in error;
  return hasCode && typeof error.code === 'string' ? error.code : undefined;
}
