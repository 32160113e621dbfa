/* Western Indonesian Time (WIB). It has no daylight saving time. */

const OFFSET_MS = 7 * 3_600_000;

/** How a typed day begins: PostgreSQL has no year 0, and other years are typing errors. */
export const YEARS = /^2\d{3}-/;

/** `2026-11-24T23:59:59.000+07:00`. */
export function formatInWib(at: Date): string {
  return new Date(at.getTime() + OFFSET_MS).toISOString().replace('Z', '+07:00');
}

/** `2026-11-24`. */
export function dayInWib(at: Date): string {
  return formatInWib(at).slice(0, 'YYYY-MM-DD'.length);
}

/** Whether it is a Sunday there. */
export function isSundayInWib(at: Date): boolean {
  return new Date(at.getTime() + OFFSET_MS).getUTCDay() === 0;
}

/** The last day of a month: `2026-11-30` of `2026-11`. */
export function lastDayOf(month: string): string {
  const last = new Date(`${month}-01T00:00:00Z`);
  last.setUTCMonth(last.getUTCMonth() + 1, 0);
  return last.toISOString().slice(0, 'YYYY-MM-DD'.length);
}

/** `2026-11`. */
export function monthInWib(at: Date): string {
  return formatInWib(at).slice(0, 'YYYY-MM'.length);
}

/** `2026-12` of `2027-01`. */
export function monthBefore(month: string): string {
  const before = new Date(`${month}-01T00:00:00Z`);
  before.setUTCMonth(before.getUTCMonth() - 1);
  return before.toISOString().slice(0, 'YYYY-MM'.length);
}
