/*
 * The lawful fee, computed by a program apart: it imports nothing, and chooses rows, bands and rounding by itself, in
 * integers of any size. Its rules are those of docs/fees.md.
 */

/** A row of rates; bands as amount and basis points. */
export interface PlantedSchedule {
  readonly class: string;
  readonly validFrom: string;
  readonly version: number;
  readonly bands: readonly (readonly [from: number, basisPoints: number])[];
}

/** A row of a merchant's price; null: the agreement ends. */
export interface PlantedPrice {
  readonly merchant: string;
  readonly validFrom: string;
  readonly version: number;
  readonly price: readonly [basisPoints: number, flat: number] | null;
}

export interface PlantedRates {
  readonly schedules: readonly PlantedSchedule[];
  readonly prices: readonly PlantedPrice[];
  readonly catalog: readonly [basisPoints: number, flat: number];
}

export interface FeeCase {
  readonly merchant: string;
  /** Null: it is not known. */
  readonly class: string | null;
  readonly at: Date;
  readonly amount: number;
}

export interface LawfulFee {
  readonly fee: number;
  readonly source: string;
  readonly basisPoints: number;
  readonly flat: number;
  readonly validFrom: string | null;
}

const JAKARTA = new Intl.DateTimeFormat('sv-SE', { timeZone: 'Asia/Jakarta' });

export function lawfulFee(rates: PlantedRates, { merchant, class: own, at, amount }: FeeCase): LawfulFee {
  const day = JAKARTA.format(at);
  const ofClass = newestOn(
    day,
    rates.schedules.filter((row) => row.class === own),
  );
  const agreed = newestOn(
    day,
    rates.prices.filter((row) => row.merchant === merchant),
  );
  const candidates: LawfulFee[] = [];
  if (ofClass !== null) {
    const basisPoints = rateIn(ofClass.bands, amount);
    const fee = share(amount, basisPoints, 0n);
    candidates.push({ fee, source: 'class', basisPoints, flat: 0, validFrom: ofClass.validFrom });
  }
  if (agreed?.price) {
    const [basisPoints, flat] = agreed.price;
    const fee = share(amount, basisPoints, 0n) + flat;
    candidates.push({ fee, source: 'agreed', basisPoints, flat, validFrom: agreed.validFrom });
  }
  const [basisPoints, flat] = rates.catalog;
  const fee = share(amount, basisPoints, 9_999n) + flat;
  // The first of equal fees stays.
  const least = candidates.reduce<LawfulFee | null>((best, next) => (best && best.fee <= next.fee ? best : next), null);
  return least ?? { fee, source: 'catalog', basisPoints, flat, validFrom: null };
}

interface Dated {
  readonly validFrom: string;
  readonly version: number;
}

function newestOn<Row extends Dated>(day: string, rows: readonly Row[]): Row | null {
  let newest: Row | null = null;
  for (const row of rows) {
    if (row.validFrom > day) continue;
    const isNewer =
      newest === null ||
      row.validFrom > newest.validFrom ||
      (row.validFrom === newest.validFrom && row.version > newest.version);
    if (isNewer) newest = row;
  }
  return newest;
}

function rateIn(bands: PlantedSchedule['bands'], amount: number): number {
  let rate = 0;
  for (const [from, basisPoints] of bands) if (amount >= from) rate = basisPoints;
  return rate;
}

function share(amount: number, basisPoints: number, added: bigint): number {
  return Number((BigInt(amount) * BigInt(basisPoints) + added) / 10_000n);
}
