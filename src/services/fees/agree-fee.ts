import { v7 as uuidv7 } from 'uuid';
import { z } from 'zod';
import { findEnvironment } from '../../db/connection/environment';
import type { Queryable } from '../../db/connection/pool';
import { onlyRow } from '../../db/connection/require-row';
import { MAX_TOTAL_RUPIAH } from '../../domain/money';
import { dayInWib } from '../../domain/wib';
import type { AuditDependencies } from '../audit/audit';
import { ofMerchant } from '../merchants/merchants';
import { Operation } from '../operations/operation';
import { done, rejected } from '../operations/rejections';
import { PRICE_COLUMNS, RATE_REJECTIONS, type MerchantPrice } from './fee-rates';

const agreedPrice = z.object({
  basisPoints: z.int().min(0).max(10_000),
  flatRupiah: z.int().min(0).max(MAX_TOTAL_RUPIAH),
});

/** Agrees a price with a merchant from a day in WIB on, or ends one. In production two operators decide. */
export const agreeFee = new Operation({
  name: 'fee.agree',
  operator: 'all',
  path: ofMerchant.path,
  input: z.object({
    validFrom: z.iso.date(),
    /** Null: the agreement ends. */
    price: agreedPrice.nullable(),
    /** Absent: the next one. An approved request names it. */
    version: z.int().optional(),
  }),
  ...RATE_REJECTIONS,
  async load(needs: AuditDependencies, scope, path) {
    const { id, name } = await ofMerchant.load(needs, scope, path);
    return { id, name, environment: await findEnvironment(needs.db), next: await findNextVersion(needs.db, id) };
  },
  target: ({ subject: { id } }) => id,
  allows: ({ environment }, _by, input) =>
    environment === 'production' && input !== undefined && input.validFrom <= dayInWib(new Date())
      ? { reason: 'begins_too_early' }
      : null,
  approval: {
    executes: 'database',
    target: ({ subject: { id, name } }) => `${name} (${id})`,
    propose: ({ subject: { id, next }, input }) => ({
      parameters: { merchant: id, ...input, version: next },
      store: () => Promise.resolve(),
    }),
  },
  async perform({ needs: { db }, subject: { id, next }, input: { version = next, ...input } }) {
    const written = await insertPrice(db, { merchantId: id, version, ...input });
    return written === null ? rejected({ reason: 'superseded' }) : done(written);
  },
});

async function findNextVersion(db: Queryable, merchantId: string): Promise<number> {
  const { rows } = await db.query<{ next: number }>(
    'select coalesce(max(version), 0) + 1 as next from merchant_prices where merchant_id = $1',
    [merchantId],
  );
  return onlyRow(rows).next;
}

interface NewPrice extends Pick<MerchantPrice, 'merchantId' | 'version' | 'validFrom'> {
  readonly price: z.output<typeof agreedPrice> | null;
}

/** Null if the merchant has that version already, or a newer one. */
async function insertPrice(
  db: Queryable,
  { merchantId, version, validFrom, price }: NewPrice,
): Promise<MerchantPrice | null> {
  const { rows } = await db.query<MerchantPrice>(
    `insert into merchant_prices (id, merchant_id, version, valid_from, basis_points, flat_rupiah)
     select $1, $2, $3::integer, $4, $5, $6
     where not exists (select from merchant_prices newer where newer.merchant_id = $2 and newer.version >= $3::integer)
     on conflict (merchant_id, version) do nothing returning ${PRICE_COLUMNS}`,
    [uuidv7(), merchantId, version, validFrom, price?.basisPoints, price?.flatRupiah],
  );
  return rows[0] ?? null;
}
