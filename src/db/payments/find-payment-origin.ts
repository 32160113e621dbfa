import type { FeeRate } from '../../domain/fees';
import type { PaymentTerms } from '../../domain/payment';
import type { Queryable } from '../connection/pool';

/** Who created a payment, and the policy that it captured. */
export interface PaymentOrigin {
  /** The user who created it in the dashboard; null: the API did. */
  readonly personName: string | null;
  /** The id of the request to the API; null if none is known, and for a payment of the dashboard. */
  readonly requestId: string | null;
  /** The key of that request, while the request is recorded. */
  readonly key: OriginKey | null;
  /** The payment link by which a customer made it; null: by none. */
  readonly link: OriginLink | null;
  readonly policy: OriginPolicy;
}

export interface OriginLink {
  readonly referenceId: string;
  readonly title: string;
}

export interface OriginKey {
  readonly id: string;
  /** What the merchant calls it. */
  readonly name: string | null;
  readonly prefix: string;
  readonly lastFour: string;
}

/** The fee is that of the payment, whatever its source is. */
export interface OriginPolicy extends FeeRate, Pick<PaymentTerms, 'settlementKind' | 'settlementDelaySeconds'> {
  readonly version: number;
}

/** Callers choose the ids of requests: of any number with the same id, only these are compared. */
const MAX_WITH_SAME_ID = 50;

/** $1: the merchant, $2: the payment. */
const ORIGIN = `
  select person.name as "personName", case when person.name is null then creation.request_id end as "requestId",
    case when person.name is null then (
      select json_build_object('id', api_key.id, 'name', api_key.name, 'prefix', api_key.prefix,
        'lastFour', api_key.last_four)
      from (
        select merchant_id, key_id, payment_ids from api_requests
        where request_id = creation.request_id limit ${MAX_WITH_SAME_ID}
      ) request
      join api_keys api_key on api_key.id = request.key_id and api_key.merchant_id = $1
      where request.merchant_id = $1 and payments.id = any (request.payment_ids) limit 1
    ) end as key,
    (select json_build_object('referenceId', link.reference_id, 'title', link.title)
      from payment_link_payments own join payment_links link on link.id = own.link_id
      where own.payment_id = payments.id) as link,
    json_build_object('version', policy.version,
      'feeBasisPoints', coalesce((payments.fee_terms ->> 'basisPoints')::integer, policy.fee_basis_points),
      'feeFlatRupiah', coalesce((payments.fee_terms ->> 'flatRupiah')::bigint, policy.fee_flat_rupiah),
      'settlementKind', payments.settlement_kind,
      'settlementDelaySeconds', payments.settlement_delay_seconds) as policy
  from payments
  join policies policy on policy.id = payments.policy_id
  left join payment_transitions creation on creation.payment_id = payments.id and creation.version = 1
  left join lateral (
    select users.name from user_actions action join users on users.id = action.user_id
    where action.target = payments.id::text and action.action = 'payment.create' and action.merchant_id = $1
    order by action.id limit 1
  ) person on true
  where payments.id = $2 and payments.merchant_id = $1`;

/** Undefined if the merchant has no such payment. */
export async function findPaymentOrigin(
  db: Queryable,
  merchantId: string,
  paymentId: string,
): Promise<PaymentOrigin | undefined> {
  const { rows } = await db.query<PaymentOrigin>({
    name: 'find_payment_origin',
    text: ORIGIN,
    values: [merchantId, paymentId],
  });
  return rows[0];
}
