import type { Queryable } from '../../db/connection/pool';

/* Who can request and decide what needs two persons, as conditions of SQL. Each takes the alias of a row. */

/** The key is accepted. */
export const isActive = (operator: string) =>
  `${operator}.is_approved and ${operator}.revoked_at is null
    and (${operator}.expires_at is null or ${operator}.expires_at > now())`;

const wasApproved = (operator: string) =>
  `exists (select from approvals creation where creation.action = 'operator.create' and creation.status = 'executed'
    and creation.parameters ->> 'operatorId' = ${operator}.id::text)`;

/** One of the first two operators without scopes, whom no other operator can approve. */
const isFounder = (operator: string) =>
  `(${operator}.scopes is null and (
    select count(*) from operators earlier where earlier.scopes is null
      and (earlier.created_at, earlier.id) < (${operator}.created_at, ${operator}.id)
  ) < 2)`;

/**
 * An operator who is alone can create the next one. Such an operator decides and requests nothing for a day, in which
 * the audit log shows it. The first two operators of an installation are created alone.
 */
const isTrusted = (operator: string) =>
  `(${operator}.created_at <= now() - interval '24 hours'
    or (select count(*) from operators where scopes is null) <= 2
    or ${wasApproved(operator)})`;

const hasCreated = (creator: string, operator: string) =>
  `coalesce(${operator}.created_by = ${creator}.id and not ${isFounder(operator)}, false)`;

/** The same person created both alone. */
const areSiblings = (one: string, other: string) =>
  `coalesce(${one}.created_by = ${other}.created_by and not ${isFounder(one)} and not ${isFounder(other)}
    and not ${wasApproved(one)} and not ${wasApproved(other)}, false)`;

const canDecide = (operator: string) =>
  `${operator}.scopes is null and ${isActive(operator)} and ${isTrusted(operator)}`;

/** The condition on `decider` and `requester`, two rows of operators. */
export const ARE_TWO_PERSONS = `decider.id <> requester.id and ${canDecide('decider')}
  and ${isTrusted('requester')} and not ${hasCreated('decider', 'requester')}
  and not ${hasCreated('requester', 'decider')} and not ${areSiblings('decider', 'requester')}`;

/** Ids of the operators who can decide, locked: concurrent revocations are counted one after the other. */
export const LOCKED_DECIDERS = `select id from operators where ${canDecide('operators')} order by id for update`;

/** True if one of the last two operators who can decide would be revoked: then no request could be decided any more. */
export async function isNeededToDecide(db: Queryable, operatorId: string): Promise<boolean> {
  const { rows } = await db.query<{ isNeeded: boolean }>(
    `select count(*) = 2 and count(*) filter (where id = $1) = 1 as "isNeeded"
     from operators where ${canDecide('operators')}`,
    [operatorId],
  );
  return rows[0]?.isNeeded ?? false;
}
