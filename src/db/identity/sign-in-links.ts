/**
 * A link of a user needs an owner still: who is removed, disabled or no owner any more leaves no way in behind.
 * @param ofOperator the condition for a link of an operator
 */
export const isPermitted = (ofOperator: string) => `case when link.created_by like 'user:%' then exists (
    select from members issuer join users person on person.id = issuer.user_id and person.disabled_at is null
    where issuer.merchant_id = link.merchant_id and issuer.role = 'owner' and issuer.removed_at is null
      and link.created_by = 'user:' || issuer.user_id)
  else ${ofOperator} end`;
