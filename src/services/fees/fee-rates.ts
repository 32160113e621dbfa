import type { Queryable } from '../../db/connection/pool';
import type { FeeBand } from '../../domain/fee-classes';
import type { MerchantClass } from '../../domain/merchant-identity';

/** The rates of a class from a day in WIB on. */
export interface FeeSchedule {
  readonly class: MerchantClass;
  /** Counts the rows of the class. */
  readonly version: number;
  /** `2024-12-01`. */
  readonly validFrom: string;
  readonly bands: readonly FeeBand[];
  readonly createdAt: Date;
}

/** What was agreed with a merchant from a day in WIB on. */
export interface MerchantPrice {
  readonly merchantId: string;
  /** Counts the rows of the merchant. */
  readonly version: number;
  readonly validFrom: string;
  /** Null: the agreement ends. */
  readonly basisPoints: number | null;
  readonly flatRupiah: number | null;
  readonly createdAt: Date;
}

export const SCHEDULE_COLUMNS = `class, version, to_char(valid_from, 'YYYY-MM-DD') as "validFrom", bands,
  created_at as "createdAt"`;
export const PRICE_COLUMNS = `merchant_id as "merchantId", version, to_char(valid_from, 'YYYY-MM-DD') as "validFrom",
  basis_points as "basisPoints", flat_rupiah as "flatRupiah", created_at as "createdAt"`;

/** Why a request that two operators have agreed on writes nothing. */
export const NEWER_RATES = 'There are newer rates than those that were seen: request it again.';

/** The reasons and the sentences of both operations on rates. */
export const RATE_REJECTIONS = {
  rejections: { begins_too_early: {}, superseded: {} },
  messages: { begins_too_early: () => 'A rate must begin after today.', superseded: () => NEWER_RATES },
} as const;

/** The rows in force on the day, and those of later days. What another row of the same day replaced is left out. */
export async function listFeeSchedules(db: Queryable, day: string): Promise<FeeSchedule[]> {
  const { rows } = await db.query<FeeSchedule>(
    `select distinct on (class, valid_from) ${SCHEDULE_COLUMNS} from fee_schedules listed
     where not exists (
       select from fee_schedules newer
       where newer.class = listed.class and newer.valid_from > listed.valid_from and newer.valid_from <= $1)
     order by class, valid_from, version desc`,
    [day],
  );
  return rows;
}

/**
 * As `listFeeSchedules`.
 * @param merchantId absent: those of all merchants
 */
export async function listMerchantPrices(db: Queryable, day: string, merchantId?: string): Promise<MerchantPrice[]> {
  const { rows } = await db.query<MerchantPrice>(
    `select distinct on (merchant_id, valid_from) ${PRICE_COLUMNS} from merchant_prices listed
     where merchant_id = coalesce($2, merchant_id) and not exists (
       select from merchant_prices newer
       where newer.merchant_id = listed.merchant_id and newer.valid_from > listed.valid_from
         and newer.valid_from <= $1)
     order by merchant_id, valid_from, version desc`,
    [day, merchantId],
  );
  return rows;
}
