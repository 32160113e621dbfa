/** What has events that merchants receive as webhooks. */
export const SUBJECT_KINDS = ['payment', 'late_payment', 'payout', 'invoice'] as const;
export type SubjectKind = (typeof SUBJECT_KINDS)[number];

/**
 * A late payment has the id of its payment, and other versions. The ids of two other subjects differ, whatever their
 * kinds are.
 */
export interface Subject {
  readonly kind: SubjectKind;
  readonly id: string;
}

/** What the id of a subject identifies. */
export const SUBJECT_ID_NAMES = {
  payment: 'payment',
  late_payment: 'payment',
  payout: 'payout',
  invoice: 'invoice',
} as const satisfies Record<SubjectKind, string>;

type SubjectLogName = `${(typeof SUBJECT_ID_NAMES)[SubjectKind]}Id`;

/** The subject's id under the name that log lines have for it. */
export function subjectLogId({ kind, id }: Subject): Readonly<Partial<Record<SubjectLogName, string>>> {
  return { [`${SUBJECT_ID_NAMES[kind]}Id` as const]: id };
}
