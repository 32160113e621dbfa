import type { Person } from '../../domain/actor';
import { beginAction, type AuditDependencies, type OperatorAction, type RecordEnd } from '../audit/audit';
import { beginUserAction } from '../audit/user-audit';

interface ActBy {
  readonly needs: AuditDependencies;
  readonly by: Person;
}

/**
 * Writes the row of an act into the log of operators or of members.
 * @returns null: a second operator has to approve it, and nothing was written
 */
export function beginAct({ needs: { db, log }, by }: ActBy, entry: OperatorAction): Promise<RecordEnd | null> {
  if (by.kind !== 'merchant_user') return beginAction({ db, log }, by, entry);
  const { id: userId, merchantId, address } = by;
  const { action, target, detail } = entry;
  return beginUserAction(db, { userId, merchantId, address, log }, { action, target, detail });
}
