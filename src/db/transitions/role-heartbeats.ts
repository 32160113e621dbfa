import type { ProcessRole } from '../../domain/process-roles';
import type { Queryable } from '../connection/pool';
import { bindStatement, prepareStatement } from '../connection/statement';

/** Many processes of one role write as seldom as one does. The order of the roles prevents deadlocks. */
const BEAT = prepareStatement(
  'beat_roles',
  ['roles'],
  `insert into role_heartbeats (role) select unnest(:roles::text[]) order by 1
   on conflict (role) do update set seen_at = now() where role_heartbeats.seen_at < now() - interval '10 seconds'`,
);

export const HEARTBEAT_STATEMENTS = [BEAT] as const;

/** Records that a process of each of these roles runs. */
export async function recordHeartbeat(db: Queryable, roles: readonly ProcessRole[]): Promise<void> {
  await db.query(bindStatement(BEAT, { roles }));
}
