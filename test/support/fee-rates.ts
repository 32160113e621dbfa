import { randomUUID } from 'node:crypto';
import type { Queryable } from '../../src/db/connection/pool';
import { MERCHANT_CRITERIA, type MerchantClass } from '../../src/domain/merchant-identity';
import type { PlantedPrice, PlantedSchedule } from './lawful-fee';

/** Puts an identity of this class in force, as its next version. */
export async function putIdentityInForce(db: Queryable, merchantId: string, ownClass: MerchantClass): Promise<void> {
  const criterion = MERCHANT_CRITERIA.find((known) => known === ownClass);
  await db.query(
    `insert into merchant_identities (merchant_id, version, trading_name, category, criterion, nmid, sealed_details,
       details_sha256, proposed_by, in_force_from)
     select $1, coalesce(max(version), 0) + 1, 'Toko', $2, $3, 'ID' || lpad((random() * 1e12)::bigint::text, 13, '0'),
       'none', sha256('none'), 'cli:test', now()
     from merchant_identities where merchant_id = $1`,
    [merchantId, criterion ? 'regular' : ownClass, criterion ?? 'UKE'],
  );
}

export async function plantSchedule(db: Queryable, { bands, ...row }: PlantedSchedule): Promise<void> {
  const json = JSON.stringify(bands.map(([fromRupiah, basisPoints]) => ({ fromRupiah, basisPoints })));
  await db.query('insert into fee_schedules (id, class, version, valid_from, bands) values ($1, $2, $3, $4, $5)', [
    randomUUID(),
    row.class,
    row.version,
    row.validFrom,
    json,
  ]);
}

export async function plantPrice(db: Queryable, { merchant, version, validFrom, price }: PlantedPrice): Promise<void> {
  await db.query(
    `insert into merchant_prices (id, merchant_id, version, valid_from, basis_points, flat_rupiah)
     values ($1, $2, $3, $4, $5, $6)`,
    [randomUUID(), merchant, version, validFrom, price?.[0], price?.[1]],
  );
}
