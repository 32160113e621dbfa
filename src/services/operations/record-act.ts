import type { Person } from '../../domain/actor';
import type { ActionEnd } from '../../domain/recorded-outcome';
import { withAudit, type AuditDependencies, type OperatorAction } from '../audit/audit';
import { withUserAudit } from '../audit/user-audit';

interface ActBy {
  readonly needs: AuditDependencies;
  readonly by: Person;
}

/** Executes an act of a person, and records it in the log of operators or of members. */
export function recordAct<Result>(
  { needs: { db, log }, by }: ActBy,
  { action, target, note, detail }: OperatorAction,
  perform: () => Promise<Result>,
  endOf: (result: Result) => ActionEnd,
): Promise<Result> {
  if (by.kind !== 'merchant_user') return withAudit({ db, log }, by, { action, target, note, detail }, perform, endOf);
  const { id: userId, merchantId, address } = by;
  return withUserAudit(db, { userId, merchantId, address, log }, { action, target, detail }, perform, endOf);
}
