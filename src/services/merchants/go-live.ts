import type { Environment } from '../../config';
import { findEnvironment } from '../../db/connection/environment';
import type { Queryable } from '../../db/connection/pool';
import { onlyRow } from '../../db/connection/require-row';
import { literalList } from '../../db/connection/statement';
import { accountsOf } from '../../db/operations/find-current-policy';
import { PAID_STATUSES } from '../../domain/payment-transitions';
import { listEndpoints, type WebhookEndpoint } from '../webhooks/webhook-endpoints';
import { listKeys, type ApiKey } from './keys/api-key';
import { findUnidentified, type Unidentified } from './merchant-identity';
import { findMerchant, type Merchant } from './merchants';

/** What decides whether a merchant can go live. */
export interface GoLiveFacts extends MerchantActivity {
  readonly environment: Environment | null;
  readonly merchant: Merchant;
  /** Why production would not approve it; null: it would. */
  readonly unidentified: Unidentified | null;
  /** The keys that are neither revoked nor expired. */
  readonly keys: readonly ApiKey[];
  /** The enabled ones. */
  readonly endpoints: readonly WebhookEndpoint[];
}

interface MerchantActivity {
  /** The merchant's providers that have an enabled account and a policy. */
  readonly usableProviders: readonly string[];
  /** What customers of the merchant see in their apps where accounts are shared: the name, else the NMID or the id. */
  readonly sharedNames: readonly string[];
  /** How many of the newest payments were counted. */
  readonly payments: number;
  readonly paymentsWithoutKey: number;
  /** Names that the merchant's newest requests had and Lunas did not read; at most 20. */
  readonly ignoredNames: readonly string[];
  readonly hasPaid: boolean;
  readonly hasRefund: boolean;
  readonly hasDelivered: boolean;
  readonly deadDeliveries: number;
}

const NEWEST_PAYMENTS = 100;
const NEWEST_REQUESTS = 100;

const ACTIVITY = `
  select
    array(
      select provider from unnest($2::text[]) provider
      where exists (select from ${accountsOf({ merchant: '$1', provider: 'provider.provider' })})
        and exists (select from policies policy where policy.provider = provider.provider)
    ) as "usableProviders",
    array(
      select distinct shared.name from unnest($2::text[]) provider, lateral (
        select coalesce(account.shown_name, account.nmid, account.id::text) as name
        from ${accountsOf({ merchant: '$1', provider: 'provider.provider' })} and account.merchant_id is null
      ) shared order by shared.name
    ) as "sharedNames",
    array(
      select distinct name from (
        select ignored_fields || ignored_parameters as names from api_requests where merchant_id = $1
        order by started_at desc, id desc limit ${NEWEST_REQUESTS}
      ) request, unnest(names) name order by name limit 20
    ) as "ignoredNames",
    newest.payments,
    newest.without_key as "paymentsWithoutKey",
    exists (select from payments where merchant_id = $1 and status in (${literalList(PAID_STATUSES)})) as "hasPaid",
    exists (select from payments where merchant_id = $1 and status = 'refunded') as "hasRefund",
    exists (select from webhook_deliveries where merchant_id = $1 and status = 'delivered') as "hasDelivered",
    (select count(*) from webhook_deliveries where merchant_id = $1 and status = 'dead') as "deadDeliveries"
  from (
    select count(*) as payments, count(*) filter (where idempotency_key is null) as without_key
    from (select idempotency_key from payments where merchant_id = $1
          order by created_at desc, id desc limit ${NEWEST_PAYMENTS}) payment
  ) newest`;

/** @throws NotFoundError if there is no such merchant */
export async function readGoLiveFacts(db: Queryable, merchantId: string): Promise<GoLiveFacts> {
  const merchant = await findMerchant(db, merchantId);
  const { rows } = await db.query<MerchantActivity>(ACTIVITY, [merchantId, merchant.providers]);
  const [keys, endpoints] = [await listKeys(db, merchantId), await listEndpoints(db)];
  const now = new Date();
  return {
    ...onlyRow(rows),
    environment: await findEnvironment(db),
    merchant,
    unidentified: await findUnidentified(db, merchantId),
    keys: keys.filter(({ revokedAt, expiresAt }) => revokedAt === null && (expiresAt === null || expiresAt > now)),
    endpoints: endpoints.filter((endpoint) => endpoint.merchantId === merchantId && endpoint.status === 'enabled'),
  };
}
