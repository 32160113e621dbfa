import { MERCHANT_CRITERIA, type MerchantClass } from './merchant-identity';

/** The classes of merchants that have rates. */
export const FEE_CLASSES = [
  ...MERCHANT_CRITERIA,
  'education',
  'fuel',
  'public_service',
  'social',
] as const satisfies readonly MerchantClass[];

/** What has rates: the classes, and `VAT`, which is the VAT on every fee and has one band. */
export const SCHEDULE_CLASSES = [...FEE_CLASSES, 'VAT'] as const;
export type ScheduleClass = (typeof SCHEDULE_CLASSES)[number];

/**
 * The classes whose customers may pay the fee in production. Bank Indonesia forbids to pass the MDR on to customers,
 * and no exception of a category is established (docs/fees.md#who-pays).
 */
const CLASSES_WITH_BUYER_FEE: ReadonlySet<MerchantClass> = new Set();

/** @param ownClass null: it is not known */
export function mayPassFee(ownClass: MerchantClass | null): boolean {
  return ownClass !== null && CLASSES_WITH_BUYER_FEE.has(ownClass);
}

/** The rate of the amounts from this one up to the next band. It holds for the whole amount. */
export interface FeeBand {
  readonly fromRupiah: number;
  readonly basisPoints: number;
}

export const MAX_FEE_BANDS = 10;

/** Whether each amount has exactly one band: the first begins at 0, and each next one above the one before. */
export function coverAllAmounts(bands: readonly FeeBand[]): boolean {
  return bands.every(({ fromRupiah }, index) =>
    index === 0 ? fromRupiah === 0 : fromRupiah > (bands[index - 1]?.fromRupiah ?? Infinity),
  );
}

/** Whether these may be the rates of the class. */
export function fitClass(own: ScheduleClass, bands: readonly FeeBand[]): boolean {
  return coverAllAmounts(bands) && (own !== 'VAT' || bands.length === 1);
}

/** The band of an amount; undefined: there are no bands. */
export function bandOf(amountRupiah: number, bands: readonly FeeBand[]): FeeBand | undefined {
  return bands.findLast(({ fromRupiah }) => fromRupiah <= amountRupiah);
}

/**
 * The MDR of Bank Indonesia as the press and an acquirer publish it (docs/fees.md#the-proposal). Micro merchants pay
 * nothing up to Rp 500,000 since 1 December 2024.
 */
export const PROPOSED_BANDS = {
  UMI: [
    { fromRupiah: 0, basisPoints: 0 },
    { fromRupiah: 500_001, basisPoints: 30 },
  ],
  UKE: [{ fromRupiah: 0, basisPoints: 70 }],
  UME: [{ fromRupiah: 0, basisPoints: 70 }],
  UBE: [{ fromRupiah: 0, basisPoints: 70 }],
  education: [{ fromRupiah: 0, basisPoints: 60 }],
  fuel: [{ fromRupiah: 0, basisPoints: 40 }],
  public_service: [{ fromRupiah: 0, basisPoints: 40 }],
  social: [{ fromRupiah: 0, basisPoints: 0 }],
} as const satisfies Readonly<Record<MerchantClass, readonly FeeBand[]>>;
