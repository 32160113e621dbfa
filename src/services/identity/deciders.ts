import type { Queryable } from '../../db/connection/pool';

/** Ids of the operators who can decide, locked: concurrent revocations are counted one after the other. */
export const LOCKED_DECIDERS = `select id from operators where can_decide(operators) order by id for update`;

/** True if one of the last two operators who can decide would be revoked: then no request could be decided any more. */
export async function isNeededToDecide(db: Queryable, operatorId: string): Promise<boolean> {
  const { rows } = await db.query<{ isNeeded: boolean }>(
    `select count(*) = 2 and count(*) filter (where id = $1) = 1 as "isNeeded"
     from operators where can_decide(operators)`,
    [operatorId],
  );
  return rows[0]?.isNeeded ?? false;
}
