import type { Language, TimeZone } from '../../domain/sign-in';

/** How a page writes times. */
export interface Locale {
  readonly language: Language;
  readonly zone: TimeZone;
}

/** The short names of the zones of Indonesia. */
export const ZONE_NAMES = {
  'Asia/Jakarta': 'WIB',
  'Asia/Makassar': 'WITA',
  'Asia/Jayapura': 'WIT',
} as const satisfies Record<TimeZone, string>;

/** The zone of statements, whatever the zone of the merchant is. */
export const WIB: TimeZone = 'Asia/Jakarta';

const LOCALES = { id: 'id-ID', en: 'en-GB' } as const;

const STYLES = {
  time: { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
  second: { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' },
  day: { day: 'numeric', month: 'short', year: 'numeric' },
  weekday: { weekday: 'long', day: 'numeric', month: 'short', year: 'numeric' },
  month: { month: 'long', year: 'numeric' },
  short: { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
  full: { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>;
export type TimeStyle = keyof typeof STYLES;

/** A formatter takes some microseconds to use, and far more to make. */
const formatters = new Map<string, Intl.DateTimeFormat>();

/** The time in the zone of the merchant. */
export function formatTime(at: Date, style: TimeStyle, { language, zone }: Locale): string {
  const key = `${language} ${zone} ${style}`;
  const known = formatters.get(key) ?? new Intl.DateTimeFormat(LOCALES[language], { ...STYLES[style], timeZone: zone });
  formatters.set(key, known);
  return known.format(at);
}

/** `Siti, Budi or Rina`. */
export function formatNames(names: readonly string[], language: Language, type: 'conjunction' | 'disjunction'): string {
  return new Intl.ListFormat(LOCALES[language], { type }).format(names);
}

const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;

/** A duration in the largest unit that divides it: `1 day`, `36 hours`, `90 seconds`. */
export function formatDuration(seconds: number, language: Language): string {
  const [unit, size] = UNITS.find(([, length]) => seconds >= length && seconds % length === 0) ?? ['second', 1];
  return (seconds / size).toLocaleString(LOCALES[language], { style: 'unit', unit, unitDisplay: 'long' });
}

/** A month (`2026-11`) in words. */
export function formatMonth(month: string, locale: Locale): string {
  return formatTime(startOfDay(`${month}-15`, locale.zone), 'month', locale);
}

/** A day in WIB (`2026-11-25`) in words. */
export function formatDay(day: string, language: Language): string {
  return formatTime(startOfDay(day, WIB), 'day', { language, zone: WIB });
}

/** The hours between each zone and UTC. Indonesia has no summer time. */
const OFFSET_HOURS = { 'Asia/Jakarta': 7, 'Asia/Makassar': 8, 'Asia/Jayapura': 9 } as const satisfies Record<
  TimeZone,
  number
>;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** When a day (`2026-11-25`) begins in the zone. */
export function startOfDay(day: string, zone: TimeZone): Date {
  return new Date(Date.parse(`${day}T00:00:00Z`) - OFFSET_HOURS[zone] * HOUR_MS);
}

/** The day in the zone, as `2026-11-25`. */
export function dayOf(at: Date, zone: TimeZone): string {
  return new Date(at.getTime() + OFFSET_HOURS[zone] * HOUR_MS).toISOString().slice(0, 10);
}

/** ISO 8601 with the offset of the zone, to the second: `2026-11-25T14:03:20+07:00`. */
export function formatExactTime(at: Date, zone: TimeZone): string {
  const local = new Date(at.getTime() + OFFSET_HOURS[zone] * HOUR_MS).toISOString().slice(0, 19);
  return `${local}+0${OFFSET_HOURS[zone]}:00`;
}

/** The last millisecond of the day in the zone. */
export function endOfDay(day: string, zone: TimeZone): Date {
  return new Date(startOfDay(day, zone).getTime() + DAY_MS - 1);
}

/** `4:09` */
export function formatCountdown(milliseconds: number): string {
  return formatSecondsLeft(Math.max(Math.ceil(milliseconds / 1_000), 0));
}

/** A countdown of fewer minutes has no hours. */
export const MINUTES_OF_HOURS = 100;

/** `14:59`, and `23:54:29` of more than 99 minutes; `countdown.js` formats it in the same way. */
export function formatSecondsLeft(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  const rest = twoDigits(seconds % 60);
  return minutes < MINUTES_OF_HOURS
    ? `${minutes}:${rest}`
    : `${Math.floor(minutes / 60)}:${twoDigits(minutes % 60)}:${rest}`;
}

const twoDigits = (count: number) => String(count).padStart(2, '0');
