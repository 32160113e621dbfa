import type { Sealer } from '../../crypto/sealing';
import type { Queryable } from '../../db/connection/pool';
import { openSecret } from '../../webhooks/open-secrets';
import type { SealedSecret } from '../../webhooks/outbox';

/** The newest secret of the merchant's newest enabled endpoint; null if there is none. */
export async function findNewestSecret(db: Queryable, sealer: Sealer, merchantId: string): Promise<string | null> {
  const { rows } = await db.query<SealedSecret>(
    `select secret.id, secret.sealed_secret as sealed
     from webhook_endpoints endpoint join webhook_secrets secret on secret.endpoint_id = endpoint.id
     where endpoint.merchant_id = $1 and endpoint.status = 'enabled' and secret.expires_at is null
     order by endpoint.created_at desc, endpoint.id desc, secret.created_at desc limit 1`,
    [merchantId],
  );
  return rows[0] ? openSecret(rows[0], sealer) : null;
}
