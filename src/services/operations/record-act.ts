import type { Person } from '../../domain/actor';
import type { ActionEnd } from '../../domain/recorded-outcome';
import { withAudit, type AuditDependencies, type OperatorAction } from '../audit/audit';
import { withUserAudit } from '../audit/user-audit';

type Performed = { readonly outcome: 'done' } | { readonly outcome: 'rejected'; readonly rejection: object };

/** Executes an act of a person, and records it in the log of operators or of members, with its rejection. */
export function recordAct<P extends Performed>(
  { db, log }: AuditDependencies,
  by: Person,
  { action, target, note, detail }: OperatorAction,
  perform: () => Promise<P>,
): Promise<P> {
  if (by.kind !== 'merchant_user') return withAudit({ db, log }, by, { action, target, note, detail }, perform, endOf);
  const { id: userId, merchantId, address } = by;
  return withUserAudit(db, { userId, merchantId, address, log }, { action, target, detail }, perform, endOf);
}

function endOf(performed: Performed): ActionEnd {
  if (performed.outcome === 'done') return { outcome: 'succeeded', detail: null };
  return { outcome: 'rejected', detail: JSON.stringify(performed.rejection) };
}
