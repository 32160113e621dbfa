import { z } from 'zod';
import { lastDayOf } from '../../../domain/wib';
import { MAX_STATEMENT_DAYS, type Period } from '../../../services/payouts/balance';
import { areDaysInOrder, DAYS_NOT_IN_ORDER } from '../list-fields';

const DAY_MS = 86_400_000;
const FIRST_DAY = '2000-01-01';

const day = z.iso.date({ error: 'day' }).refine((text) => text >= FIRST_DAY, { error: 'day' });

const isShort = ({ from, to }: Period) => (Date.parse(to) - Date.parse(from)) / DAY_MS < MAX_STATEMENT_DAYS;

/** The days of a statement, both included. */
export const periodFields = z
  .object({ from: day, to: day })
  .refine(areDaysInOrder, DAYS_NOT_IN_ORDER)
  .refine(isShort, { error: 'days366', path: ['to'] });

/** The query of the statement of a month, `2026-11`. */
export const daysOfMonth = (month: string) => ({ from: `${month}-01`, to: lastDayOf(month) });
