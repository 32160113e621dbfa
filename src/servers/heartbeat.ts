import type { Queryable } from '../db/connection/pool';
import { recordHeartbeat } from '../db/transitions/role-heartbeats';
import type { ProcessRole } from '../domain/process-roles';
import type { Logger } from '../observability/logger';
import { repeat, type Repetition } from '../worker/repeat';

const INTERVAL_MS = 15_000;

/** Writes every 15 s which roles this process has, so that a role without a process is noticed. */
export function startHeartbeat(db: Queryable, roles: readonly ProcessRole[], log: Logger): Repetition {
  return repeat(INTERVAL_MS, async () => {
    await recordHeartbeat(db, roles).catch((error: unknown) => {
      log.warn({ err: error }, 'heartbeat not written; will retry');
    });
  });
}
