import type { ProcessRole } from '../../domain/process-roles';
import type { Queryable } from '../connection/pool';

/** A process writes every 15 s. A restart takes less than this. */
const MISSING_AFTER = "interval '3 minutes'";

/** A role that nothing has run for so long was given up. */
const GIVEN_UP_AFTER = "interval '7 days'";

/** The roles that this installation still runs, as far as it is known. */
export const LIVE_ROLES = `select role, seen_at from role_heartbeats where seen_at > now() - ${GIVEN_UP_AFTER}`;

/** The live roles that no process has. */
export const MISSING_ROLES = `${LIVE_ROLES} and seen_at < now() - ${MISSING_AFTER}`;

/** The roles that were run, and that no process has any more. */
export async function listMissingRoles(db: Queryable): Promise<ProcessRole[]> {
  const { rows } = await db.query<{ role: ProcessRole }>({
    name: 'list_missing_roles',
    text: `select role from (${MISSING_ROLES}) missing order by role`,
  });
  return rows.map(({ role }) => role);
}
