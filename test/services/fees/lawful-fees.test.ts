import { createPool, type Pool } from '../../../src/db/connection/pool';
import { FEE_CLASSES } from '../../../src/domain/fee-classes';
import type { MerchantClass } from '../../../src/domain/merchant-identity';
import { quoteFees, type FeeQuote } from '../../../src/services/fees/quote-fees';
import { insertMerchant } from '../../../src/services/merchants/merchants';
import { plantPrice, plantSchedule, putIdentityInForce } from '../../support/fee-rates';
import { lawfulFee, type PlantedPrice, type PlantedRates, type PlantedSchedule } from '../../support/lawful-fee';
import { createTestLedger } from '../../support/payments';

/* Each fee equals that of a program written apart: by class, band, price and day. */

/** With a row that replaced another one of its day, and one that was written after a later day. */
const schedulesOf = (own: string): readonly PlantedSchedule[] => [
  { class: own, version: 1, validFrom: '2024-12-01', bands: [[0, own === 'social' ? 0 : 70]] },
  { class: own, version: 2, validFrom: '2025-07-01', bands: [[0, 90]] },
  {
    class: own,
    version: 3,
    validFrom: '2025-07-01',
    bands: [
      [0, 0],
      [100_001, 33],
      [500_001, 50],
    ],
  },
  { class: own, version: 4, validFrom: '2026-03-01', bands: [[0, 70]] },
  { class: own, version: 5, validFrom: '2025-12-01', bands: [[0, 80]] },
];

const pricesOf = (merchant: string): readonly PlantedPrice[] => [
  { merchant, version: 1, validFrom: '2025-01-01', price: [40, 0] },
  { merchant, version: 2, validFrom: '2025-07-01', price: [20, 100] },
  { merchant, version: 3, validFrom: '2025-12-31', price: null },
  { merchant, version: 4, validFrom: '2026-03-01', price: [70, 0] },
];

/** The last millisecond of a day in WIB, and the first one of the next. */
const edgeOf = (day: string) => [new Date(Date.parse(`${day}T00:00:00+07:00`) - 1), new Date(`${day}T00:00:00+07:00`)];

const TIMES = ['2024-12-01', '2025-01-01', '2025-07-01', '2025-12-01', '2025-12-31', '2026-03-01'].flatMap(edgeOf);
/** Basis points of the fee without the VAT. */
const VAT = 1_100n;
const AMOUNTS = [1, 99, 100_000, 100_001, 500_000, 500_001, 9_999_999, 10_000_000];

interface Shop {
  readonly merchant: string;
  readonly class: MerchantClass | null;
}

let ledger: Awaited<ReturnType<typeof createTestLedger>>;
let db: Pool;
let rates: PlantedRates;
const shops: Shop[] = [];

beforeAll(async () => {
  ledger = await createTestLedger();
  // As the process that creates payments.
  db = createPool(ledger.database.urlOf('lunas_local_api'), { max: 1 });
  const schedules = FEE_CLASSES.flatMap(schedulesOf);
  for (const row of schedules) await plantSchedule(ledger.db, row);
  const since = { class: 'VAT', validFrom: '2020-01-01' } as const;
  await plantSchedule(ledger.db, { ...since, version: 1, bands: [[0, Number(VAT)]] });
  const prices: PlantedPrice[] = [];
  for (const own of [...FEE_CLASSES, null]) {
    for (const hasPrice of [false, true]) {
      const merchant = await openShop(own);
      shops.push({ merchant, class: own });
      if (hasPrice) prices.push(...pricesOf(merchant));
    }
  }
  for (const row of prices) await plantPrice(ledger.db, row);
  rates = { schedules, prices, catalog: [70, 0] };
});
afterAll(async () => {
  await db.end();
  await ledger.close();
});

async function openShop(own: MerchantClass | null): Promise<string> {
  const shop = { name: 'Toko', feePayer: 'merchant', providers: ['gopay'], approve: true } as const;
  const { id } = await insertMerchant(ledger.db, shop);
  if (own !== null) await putIdentityInForce(ledger.db, id, own);
  return id;
}

function expected({ merchant, class: own }: Shop, at: Date, amount: number): FeeQuote {
  const { fee, flat, source, ...rate } = lawfulFee(rates, { merchant, class: own, at, amount });
  if (fee >= amount) return { amount, error: 'fee_reaches_amount' };
  const vat = (BigInt(fee) * VAT) / (10_000n + VAT);
  const amounts = { amount, feeAmount: fee, vatAmount: Number(vat), netAmount: amount - fee, totalAmount: amount };
  if (source !== 'class' && source !== 'agreed' && source !== 'catalog') throw new Error(source);
  return { ...amounts, ...rate, source, class: own, flatAmount: flat };
}

it('more than 400 quotes at the edges of bands and days equal those of a program written apart', async () => {
  const cases = shops.flatMap((shop) => TIMES.map((at) => ({ shop, at })));
  expect(cases.length * AMOUNTS.length).toBeGreaterThan(400);
  const sources = new Set<string>();
  for (const { shop, at } of cases) {
    const quotes = await quoteFees(db, { merchantId: shop.merchant, provider: 'gopay', at, amounts: AMOUNTS });
    expect({ shop, at, quotes }).toEqual({ shop, at, quotes: AMOUNTS.map((amount) => expected(shop, at, amount)) });
    for (const quote of quotes) sources.add('error' in quote ? quote.error : quote.source);
  }
  expect([...sources].toSorted()).toEqual(['agreed', 'catalog', 'class', 'fee_reaches_amount']);
});

it('an amount that the merchant cannot have has the reason of the API', async () => {
  const [shop] = shops;
  const quote = { merchantId: shop?.merchant ?? '', at: new Date(), amounts: [1_000] };
  expect(await quoteFees(db, { ...quote, provider: 'shopeepay' })).toEqual([
    { amount: 1_000, error: 'provider_not_enabled' },
  ]);
});

it.each([
  ['no band', []],
  ['a gap at the beginning', [{ fromRupiah: 1, basisPoints: 1 }]],
  ['bands that overlap', [0, 5, 5].map((fromRupiah) => ({ fromRupiah, basisPoints: 1 }))],
  ['eleven bands', Array.from({ length: 11 }, (_, fromRupiah) => ({ fromRupiah, basisPoints: 1 }))],
  ['a rate above the amount', [{ fromRupiah: 0, basisPoints: 10_001 }]],
  ['a first band from null', [{ fromRupiah: null, basisPoints: 1 }]],
  ['a later band from null', [0, null].map((fromRupiah) => ({ fromRupiah, basisPoints: 1 }))],
  ['a rate of null', [{ fromRupiah: 0, basisPoints: null }]],
  ['no rate', [{ fromRupiah: 0 }]],
])('PostgreSQL rejects %s', async (_, bands) => {
  const insert = `insert into fee_schedules (id, class, version, valid_from, bands)
    values (gen_random_uuid(), 'UKE', 99, '2099-01-01', $1)`;
  await expect(ledger.db.query(insert, [JSON.stringify(bands)])).rejects.toMatchObject({
    constraint: 'fee_schedules_bands_cover_all',
  });
});
