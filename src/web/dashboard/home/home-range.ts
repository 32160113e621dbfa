/** The choices of a period; the first is shown unless another is chosen. */
export const RANGE_NAMES = ['today', '7d', '30d'] as const;
export type Range = (typeof RANGE_NAMES)[number];

/** What one bar of the chart shows: an hour or a day. */
export interface HomeBar {
  readonly at: Date;
  /** `2026-11-25` in the zone of the merchant. */
  readonly day: string;
  readonly payments: number;
  readonly paidRupiah: number;
}

/** The figures of payments that were created in the range. */
export interface ShownFigures {
  readonly range: Range;
  /** The first and the last day: the query of the list that is counted. */
  readonly from: string;
  readonly to: string;
  readonly payments: number;
  readonly paidRupiah: number;
  readonly netRupiah: number;
  /** Paid or failed. */
  readonly tried: number;
  readonly bars: readonly HomeBar[];
  readonly asOf: Date;
}
