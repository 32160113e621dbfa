import os from 'node:os';
import type { Queryable } from '../db/pool';
import { type Actor, audited, type OperatorActionName } from '../operator/audit';

/** Whoever runs the command, by the name that the machine knows them by. */
export function commandActor(): Actor {
  return { via: 'cli', name: `cli:${userName()}` };
}

/** Does what a command is for, of which the audit trail tells. */
export function auditedCommand<Result>(
  db: Queryable,
  action: OperatorActionName,
  target: string,
  work: () => Promise<Result>,
): Promise<Result> {
  return audited(db, commandActor(), { action, target }, work);
}

/** A user id without an entry in the machine's list of users has no name. */
function userName(): string {
  try {
    return os.userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}
