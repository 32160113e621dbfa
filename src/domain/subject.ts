/** What has transitions, and events that merchants receive as webhooks. */
export const SUBJECT_KINDS = ['payment', 'payout'] as const;
export type SubjectKind = (typeof SUBJECT_KINDS)[number];

/** The ids of two subjects differ, whatever their kinds are. */
export interface Subject {
  readonly kind: SubjectKind;
  readonly id: string;
}

/** The subject's id under the name that log lines have for it. */
export function subjectLogId({ kind, id }: Subject): { readonly paymentId?: string; readonly payoutId?: string } {
  return { [`${kind}Id` as const]: id };
}
