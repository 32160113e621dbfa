import type { Queryable } from '../../db/connection/pool';

/*
 * Who can request and decide what needs two persons, as conditions of SQL. Each takes the alias of a row. The triggers
 * of the schema use the same functions.
 */

/** One of the first two operators without scopes, whom no other operator can approve. */
const isFounder = (operator: string) =>
  `(${operator}.scopes is null and (
    select count(*) from operators earlier where earlier.scopes is null
      and (earlier.created_at, earlier.id) < (${operator}.created_at, ${operator}.id)
  ) < 2)`;

const hasCreated = (creator: string, operator: string) =>
  `coalesce(${operator}.created_by = ${creator}.id and not ${isFounder(operator)}, false)`;

/** The same person created both alone. */
const areSiblings = (one: string, other: string) =>
  `coalesce(${one}.created_by = ${other}.created_by and not ${isFounder(one)} and not ${isFounder(other)}
    and not was_approved(${one}) and not was_approved(${other}), false)`;

/** The condition on `decider` and `requester`, two rows of operators. */
export const ARE_TWO_PERSONS = `decider.id <> requester.id and can_decide(decider)
  and is_trusted(requester) and not ${hasCreated('decider', 'requester')}
  and not ${hasCreated('requester', 'decider')} and not ${areSiblings('decider', 'requester')}`;

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
