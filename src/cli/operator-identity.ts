import os from 'node:os';
import type { Queryable } from '../db/pool';
import { type OperatorIdentity, withAudit, type OperatorActionName } from '../operator/audit';

/** Whoever runs the command, by the name that the machine knows them by. */
export function commandOperator(): OperatorIdentity {
  return { via: 'cli', name: `cli:${userName()}` };
}

/** Does what a command is for, of which the audit trail tells. */
export function withCommandAudit<Result>(
  db: Queryable,
  action: OperatorActionName,
  target: string,
  work: () => Promise<Result>,
): Promise<Result> {
  return withAudit(db, commandOperator(), { action, target }, work);
}

/** A user id without an entry in the machine's list of users has no name. */
function userName(): string {
  try {
    return os.userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}
