import { v7 as uuidv7 } from 'uuid';
import type { Queryable } from '../../db/connection/pool';
import type { FeeBand, ScheduleClass } from '../../domain/fee-classes';
import { codeOf } from '../../errors';

/** The rates of a class from a day in WIB on. */
export interface FeeSchedule {
  readonly class: ScheduleClass;
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

const SCHEDULE_COLUMNS = `class, version, to_char(valid_from, 'YYYY-MM-DD') as "validFrom", bands,
  created_at as "createdAt"`;
export const PRICE_COLUMNS = `merchant_id as "merchantId", version, to_char(valid_from, 'YYYY-MM-DD') as "validFrom",
  basis_points as "basisPoints", flat_rupiah as "flatRupiah", created_at as "createdAt"`;

/** Why a request that two operators have agreed on writes nothing. */
const NEWER_RATES = 'There are newer rates than those that were seen: request it again.';

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
 * The agreed prices in force on the day, and those of later days.
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

const UNIQUE_VIOLATION = '23505';

export type NewFeeSchedule = Pick<FeeSchedule, 'class' | 'version' | 'bands'>;

/** Null if a class has that version already, or a newer one: then nothing is written. */
export async function insertFeeSchedules(
  db: Queryable,
  validFrom: string,
  schedules: readonly NewFeeSchedule[],
): Promise<FeeSchedule[] | null> {
  const given = JSON.stringify(schedules.map((own) => ({ ...own, id: uuidv7() })));
  try {
    const { rows } = await db.query<FeeSchedule>(
      `with given as (
         select * from jsonb_to_recordset($2) as element (id uuid, class text, version integer, bands jsonb)
       )
       insert into fee_schedules (id, class, version, valid_from, bands)
       select id, class, version, $1, bands from given
       where not exists (
         select from given join fee_schedules newer on newer.class = given.class and newer.version >= given.version)
       returning ${SCHEDULE_COLUMNS}`,
      [validFrom, given],
    );
    return rows.length === 0 ? null : rows;
  } catch (error) {
    if (codeOf(error) === UNIQUE_VIOLATION) return null;
    throw error;
  }
}
