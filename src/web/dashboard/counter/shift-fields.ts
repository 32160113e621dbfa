import { z } from 'zod';
import type { TimeZone } from '../../../domain/sign-in';
import { dayOf, formatExactTime, startOfDay } from '../../ui/format';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** The 30th of February is none. */
function isDate(text: string): boolean {
  const at = new Date(`${text}:00Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text);
}

/** A day and a time as a field of a browser writes them, `2026-11-29T08:30`, in the merchant's zone. */
const timeField = z
  .string()
  .regex(/^20\d\d-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d$/, { error: 'time' })
  .refine(isDate, { error: 'time' })
  .optional();

const minutesBetween = ({ from, to }: { readonly from?: string | undefined; readonly to?: string | undefined }) =>
  from === undefined || to === undefined ? null : (Date.parse(`${to}:00Z`) - Date.parse(`${from}:00Z`)) / MINUTE_MS;

const isInOrder = (sent: Parameters<typeof minutesBetween>[0]) => (minutesBetween(sent) ?? 1) > 0;
const isOneDay = (sent: Parameters<typeof minutesBetween>[0]) => (minutesBetween(sent) ?? 1) * MINUTE_MS <= DAY_MS;

/** The query of a shift. */
export const shiftFields = z
  .object({ from: timeField, to: timeField, member: z.uuid({ error: 'form' }).optional() })
  .refine(isInOrder, { error: 'order', path: ['to'] })
  .refine(isOneDay, { error: 'day', path: ['to'] });

/** The time of a shift. The end is not part of it. */
export interface ShiftTime {
  readonly from: Date;
  readonly to: Date;
}

/** Without a query: from midnight until now. With one of both times: a day from or until it, at most until now. */
export function shiftTime(
  { from, to }: Omit<z.output<typeof shiftFields>, 'member'>,
  { now, zone }: { readonly now: Date; readonly zone: TimeZone },
): ShiftTime {
  const readTime = (text: string) => {
    const [day = '', time = ''] = text.split('T');
    const [hours = 0, minutes = 0] = time.split(':').map(Number);
    return new Date(startOfDay(day, zone).getTime() + (hours * 60 + minutes) * MINUTE_MS);
  };
  const nextMinute = new Date(Math.floor(now.getTime() / MINUTE_MS + 1) * MINUTE_MS);
  if (from !== undefined) {
    const begins = readTime(from);
    const dayLater = new Date(begins.getTime() + DAY_MS);
    const latest = begins < nextMinute && nextMinute < dayLater ? nextMinute : dayLater;
    return { from: begins, to: to === undefined ? latest : readTime(to) };
  }
  if (to !== undefined) return { from: new Date(readTime(to).getTime() - DAY_MS), to: readTime(to) };
  const midnight = startOfDay(dayOf(now, zone), zone);
  // The minute that begins the next day belongs to the day after.
  return { from: midnight, to: new Date(Math.min(nextMinute.getTime(), midnight.getTime() + DAY_MS)) };
}

/** A time as the fields write it. */
export const fieldOfTime = (at: Date, zone: TimeZone) => formatExactTime(at, zone).slice(0, 16);
