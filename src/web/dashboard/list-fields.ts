import { z } from 'zod';

/** A day in the filter of a list, `YYYY-MM-DD` in the merchant's zone. */
export const dayField = z.iso.date({ error: 'day' }).optional();

interface Days {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** Whether the first day of a filter is not after the last one. */
export const areDaysInOrder = ({ from, to }: Days) => from === undefined || to === undefined || from <= to;

/** What a filter reports if they are not. */
export const DAYS_NOT_IN_ORDER = { error: 'order', path: ['from'] };
