import { coverAllAmounts, FEE_CLASSES, PROPOSED_BANDS, type FeeBand } from '../../src/domain/fee-classes';
import { feeTermsOf, type FeeRates } from '../../src/domain/fee-terms';
import { amountsOf, feeOf, isSameRate, vatOf, type FeeTerms } from '../../src/domain/fees';
import { lawfulFee, type PlantedRates } from '../support/lawful-fee';

const CATALOG = [70, 0] as const;
const POLICY = { feeBasisPoints: 70, feeFlatRupiah: 0 };
const SINCE = '2024-12-01';
const AT = new Date('2026-11-29T00:00:00Z');

/** The edges of the proposed bands and of the product, and amounts whose rounding shows. */
const AMOUNTS = [1, 99, 142, 143, 10_001, 499_999, 500_000, 500_001, 500_333, 9_999_999, 10_000_000];

/** Nothing agreed, and prices below, at and above the lawful rates; a flat part makes one of both. */
const PRICES = [null, [0, 0], [25, 0], [30, 0], [70, 0], [500, 0], [10, 1_000]] as const;

type Price = (typeof PRICES)[number];

/** The proposal, and a class with no rates. */
const CLASSES = [...FEE_CLASSES, null];

const CASES = CLASSES.flatMap((ownClass) =>
  PRICES.flatMap((price) => AMOUNTS.map((amount) => ({ ownClass, price, amount }))),
);

const bandsOf = (ownClass: (typeof CLASSES)[number]): readonly FeeBand[] => (ownClass ? PROPOSED_BANDS[ownClass] : []);

function ratesOf(ownClass: (typeof CLASSES)[number], price: Price): FeeRates {
  return {
    class: ownClass,
    schedule: ownClass && { validFrom: SINCE, bands: bandsOf(ownClass) },
    price: price && { validFrom: SINCE, basisPoints: price[0], flatRupiah: price[1] },
    vatBasisPoints: 0,
  };
}

function plantedOf(ownClass: (typeof CLASSES)[number], price: Price): PlantedRates {
  const bands = bandsOf(ownClass).map(({ fromRupiah, basisPoints }) => [fromRupiah, basisPoints] as const);
  return {
    schedules: ownClass ? [{ class: ownClass, validFrom: SINCE, version: 1, bands }] : [],
    prices: [{ merchant: 'm', validFrom: SINCE, version: 1, price }],
    catalog: CATALOG,
  };
}

it('the fee equals that of a program written apart, for each class, band edge and price', () => {
  expect(CASES.length).toBeGreaterThan(400);
  const computed = CASES.map(({ ownClass, price, amount }) => {
    const { class: _, vatBasisPoints: __, ...terms } = feeTermsOf(amount, POLICY, ratesOf(ownClass, price));
    return { ...terms, fee: feeOf(amount, terms) };
  });
  const expected = CASES.map(({ ownClass, price, amount }) => {
    const found = lawfulFee(plantedOf(ownClass, price), { merchant: 'm', class: ownClass, at: AT, amount });
    const { flat: flatRupiah, ...others } = found;
    return { ...others, flatRupiah };
  });
  expect(computed).toEqual(expected);
});

it('no agreement exceeds the lawful per cent, whatever was agreed', () => {
  for (const { ownClass, price, amount } of CASES) {
    if (ownClass === null) continue;
    const lawful = (amount * (bandsOf(ownClass).findLast((band) => band.fromRupiah <= amount)?.basisPoints ?? 0)) / 1e4;
    const terms = feeTermsOf(amount, POLICY, ratesOf(ownClass, price));
    expect(feeOf(amount, terms)).toBeLessThanOrEqual(lawful);
  }
});

it('a payment of Rp 1 is possible for each class, and costs nothing', () => {
  for (const ownClass of FEE_CLASSES) {
    const terms = feeTermsOf(1, POLICY, ratesOf(ownClass, null));
    expect(amountsOf(1, terms, 'merchant')).toMatchObject({ outcome: 'ok', amounts: { feeRupiah: 0, netRupiah: 1 } });
  }
  expect(amountsOf(1, feeTermsOf(1, POLICY, ratesOf(null, null)), 'merchant').outcome).toBe('fee_reaches_amount');
});

it('the class of the merchant is part of the terms, whatever the source is', () => {
  const terms = (changes: Partial<FeeRates>) => feeTermsOf(1_000, POLICY, { ...ratesOf('fuel', [0, 0]), ...changes });
  expect(terms({})).toMatchObject({ source: 'agreed', class: 'fuel' });
  expect(terms({ price: null })).toMatchObject({ source: 'class', class: 'fuel' });
  expect(terms({ price: null, schedule: null })).toMatchObject({ source: 'catalog', class: 'fuel' });
});

describe('bands', () => {
  const from = (...starts: readonly number[]) => starts.map((fromRupiah) => ({ fromRupiah, basisPoints: 1 }));

  it.each([
    ['one band from 0', [0], true],
    ['ascending bands', [0, 1, 500_001], true],
    ['a first band above 0', [1], false],
    ['bands that overlap', [0, 500_001, 500_001], false],
    ['descending bands', [0, 500_001, 500_000], false],
  ])('%s', (_, starts, isAllowed) => {
    expect(coverAllAmounts(from(...starts))).toBe(isAllowed);
  });
});

it('the VAT is included in the fee, and rounded down', () => {
  const cases = [
    [700, 1_100, 69],
    [0, 1_100, 0],
    [9, 1_100, 0],
    [11, 1_100, 1],
    [1, 10_000, 0],
    [10_000_000, 10_000, 5_000_000],
    [700, 0, 0],
  ] as const;
  expect(cases.map(([fee, vatBasisPoints]) => vatOf(fee, { vatBasisPoints }))).toEqual(cases.map(([, , vat]) => vat));
  expect(vatOf(700, {})).toBe(0);
  expect(feeTermsOf(1, POLICY, { ...ratesOf('UMI', null), vatBasisPoints: 1_100 })).toMatchObject({
    source: 'class',
    vatBasisPoints: 1_100,
  });
});

it('terms of a version without VAT equal those with a VAT of zero, and no others', () => {
  const before: FeeTerms = { source: 'catalog', class: null, basisPoints: 70, flatRupiah: 0, validFrom: null };
  expect(isSameRate(before, { ...before, vatBasisPoints: 0 })).toBe(true);
  expect(isSameRate({ ...before, vatBasisPoints: 0 }, before)).toBe(true);
  expect(isSameRate(before, { ...before, vatBasisPoints: 1_100 })).toBe(false);
});
