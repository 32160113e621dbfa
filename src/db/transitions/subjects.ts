import type { SubjectKind } from '../../domain/subject';

/**
 * The tables of a kind of subject. The rows of `transitions` and `events` have its id and version as their key. So have
 * ledger postings and webhook deliveries, in columns of the same names. In those of another kind the version is null.
 */
export interface SubjectTables {
  readonly kind: string;
  /** Has `id`, `version`, `status`, `merchant_id`, `reference_id` and `updated_at`. */
  readonly table: string;
  /** Null: a late payment has steps instead. */
  readonly transitions: string | null;
  readonly events: string;
  readonly idColumn: string;
  readonly versionColumn: string;
}

export const SUBJECT_TABLES = {
  payment: {
    kind: 'payment',
    table: 'payments',
    transitions: 'payment_transitions',
    events: 'webhook_events',
    idColumn: 'payment_id',
    versionColumn: 'payment_version',
  },
  late_payment: {
    kind: 'late_payment',
    table: 'payments',
    transitions: null,
    events: 'late_payment_events',
    idColumn: 'payment_id',
    versionColumn: 'late_payment_version',
  },
  payout: {
    kind: 'payout',
    table: 'payouts',
    transitions: 'payout_transitions',
    events: 'payout_events',
    idColumn: 'payout_id',
    versionColumn: 'payout_version',
  },
} as const satisfies { readonly [Kind in SubjectKind]: SubjectTables & { readonly kind: Kind } };

/** A kind with transitions of its own. */
export type TransitionTables = SubjectTables & { readonly transitions: string };

/** Every kind. A statement that reads events has one branch for each. */
export const ALL_SUBJECT_TABLES: readonly SubjectTables[] = Object.values(SUBJECT_TABLES);
