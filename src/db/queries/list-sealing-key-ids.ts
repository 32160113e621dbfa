import type { Queryable } from '../pool';

/** Payments have details by the million: each key id costs one look-up in the index instead of a scan. */
const KEY_IDS = `
  with recursive of_details as (
    select min(split_part(sealed, '.', 2)) as key_id from payment_details
    union all
    select (select min(split_part(sealed, '.', 2)) from payment_details where split_part(sealed, '.', 2) > key_id)
    from of_details where key_id is not null
  )
  select key_id as "keyId" from (
    select key_id from of_details
    union select split_part(sealed_server_key, '.', 2) from provider_accounts
    union select split_part(sealed_secret, '.', 2) from webhook_secrets
    union select split_part(sealed, '.', 2) from retired_keys
  ) in_use where key_id <> '' order by 1`;

/** The ids of the master keys that sealed the values of this database. */
export async function listSealingKeyIds(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<{ keyId: string }>(KEY_IDS);
  return rows.map(({ keyId }) => keyId);
}
