import os from 'node:os';
import type { Queryable } from '../db/pool';
import { type OperatorIdentity, withAudit, type OperatorActionName } from '../operator/audit';

/** The operator who runs the command, by the name of the operating system's user. */
export function commandOperator(): OperatorIdentity {
  return { via: 'cli', name: `cli:${userName()}` };
}

/** Executes the work of a command and records it in the audit log. */
export function withCommandAudit<Result>(
  db: Queryable,
  action: OperatorActionName,
  target: string,
  work: () => Promise<Result>,
): Promise<Result> {
  return withAudit(db, commandOperator(), { action, target }, work);
}

/** A user id without an entry in the user database has no name. */
function userName(): string {
  try {
    return os.userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}
