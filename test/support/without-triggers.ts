import type { Queryable } from '../../src/db/connection/pool';

/** Executes a statement that triggers would reject, as damage to the database would be done. Needs a superuser. */
export async function withoutTriggers(db: Queryable, statement: string): Promise<void> {
  await db.query(`begin; set local session_replication_role = replica; ${statement}; commit`);
}
