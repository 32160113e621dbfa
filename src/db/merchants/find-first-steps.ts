import type { PaymentStatus } from '../../domain/payment-transitions';
import type { Queryable } from '../connection/pool';
import { onlyRow } from '../connection/require-row';

/** How far a new merchant is; null where it is no new one. */
export interface FirstSteps {
  /** Whether the merchant was created a short time ago, or waits for its approval, or nothing was paid yet. */
  readonly isNew: boolean;
  readonly hasPaid: boolean;
  /** Whether the merchant has a key that can be used. */
  readonly hasKey: boolean | null;
  /** A receiver has accepted one of its newest webhooks. */
  readonly hasDelivered: boolean | null;
  /** The user has an authenticator app or a passkey. */
  readonly hasSecondFactor: boolean | null;
}

interface FirstStepsQuery {
  readonly merchantId: string;
  readonly userId: string;
  /** A merchant that was created later is new. */
  readonly newSince: Date;
  /** The statuses of a payment that was paid. */
  readonly paid: readonly PaymentStatus[];
}

/** No index has the delivered ones of a merchant: so many are read at most. */
const MAX_DELIVERIES = 20;

export async function findFirstSteps(
  db: Queryable,
  { merchantId, userId, newSince, paid }: FirstStepsQuery,
): Promise<FirstSteps> {
  const { rows } = await db.query<FirstSteps>({
    name: 'find_first_steps',
    text: `with state as materialized (
        select has_paid, is_young or not has_paid as is_new
        from (
          select created_at >= $3 or status = 'pending' as is_young,
            exists (select from payments where merchant_id = $1 and status = any($4)) as has_paid
          from merchants where id = $1
        ) merchant
      )
      select is_new as "isNew", has_paid as "hasPaid",
        case when is_new then exists (
          select from api_keys
          where merchant_id = $1 and revoked_at is null and (expires_at is null or expires_at > now())
        ) end as "hasKey",
        case when is_new then exists (
          select from (
            select status from webhook_deliveries where merchant_id = $1
            order by created_at desc, id desc limit ${MAX_DELIVERIES}
          ) newest
          where status = 'delivered'
        ) end as "hasDelivered",
        case when is_new then exists (
          select from users where id = $2
            and (sealed_totp is not null or exists (select from passkeys where user_id = users.id))
        ) end as "hasSecondFactor"
      from state`,
    values: [merchantId, userId, newSince, paid],
  });
  return onlyRow(rows);
}
