import type { SubjectKind } from '../../domain/subject';

/**
 * The tables of a kind of subject. The rows of `transitions` and `events` have its id and version as their key. So have
 * webhook deliveries, and the ledger postings of transitions, in columns of the same names. In those of another kind
 * the version is null.
 */
export interface SubjectTables {
  readonly kind: string;
  /** Has `id`, `merchant_id` and the reference; with transitions also `version`, `status` and `updated_at`. */
  readonly table: string;
  /** What people call the subject: a column of the table, and a member of the bodies of the events. */
  readonly referenceColumn: 'reference_id' | 'number';
  /** Null: a late payment has steps instead, and an invoice never changes. */
  readonly transitions: string | null;
  readonly events: string;
  readonly idColumn: string;
  readonly versionColumn: string;
}

export const SUBJECT_TABLES = {
  payment: {
    kind: 'payment',
    table: 'payments',
    referenceColumn: 'reference_id',
    transitions: 'payment_transitions',
    events: 'webhook_events',
    idColumn: 'payment_id',
    versionColumn: 'payment_version',
  },
  late_payment: {
    kind: 'late_payment',
    table: 'payments',
    referenceColumn: 'reference_id',
    transitions: null,
    events: 'late_payment_events',
    idColumn: 'payment_id',
    versionColumn: 'late_payment_version',
  },
  payout: {
    kind: 'payout',
    table: 'payouts',
    referenceColumn: 'reference_id',
    transitions: 'payout_transitions',
    events: 'payout_events',
    idColumn: 'payout_id',
    versionColumn: 'payout_version',
  },
  invoice: {
    kind: 'invoice',
    table: 'fee_invoices',
    referenceColumn: 'number',
    transitions: null,
    events: 'invoice_events',
    idColumn: 'invoice_id',
    versionColumn: 'invoice_version',
  },
} as const satisfies { readonly [Kind in SubjectKind]: SubjectTables & { readonly kind: Kind } };

/** A kind with transitions of its own. */
export type TransitionTables = SubjectTables & { readonly transitions: string };

/** Every kind. A statement that reads events has one branch for each. */
export const ALL_SUBJECT_TABLES: readonly SubjectTables[] = Object.values(SUBJECT_TABLES);
