import { z } from 'zod';

/*
 * What others write: one reader for each kind of value (docs/border.md has the fields). A reader is strict about the
 * value and tolerant about its form: white space around a text is no part of it, and a JSON integer is the text of its
 * digits.
 */

/** Anything, also an absent field. */
const GIVEN = z.unknown().optional();

/** @param rule what a rejected value violates: it follows the field and the value in the reason */
function reader<Value>(rule: string, read: (text: string) => Value | undefined) {
  return GIVEN.transform((value, context): Value => {
    const text = textOf(value);
    const result = text === undefined ? undefined : read(text);
    if (result !== undefined) return result;
    context.addIssue({ code: 'custom', message: rule });
    return z.NEVER;
  });
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value.trim();
  return Number.isSafeInteger(value) ? String(value) : undefined;
}

const matching = (rule: string, pattern: RegExp) => reader(rule, (text) => (pattern.test(text) ? text : undefined));

/** `10000`, `10000.00`: a rupiah has no fraction. */
export const rupiah = reader('is no whole rupiah', (text) =>
  /^\d{1,13}(\.0{0,2})?$/.test(text) ? Number(text) : undefined,
);

/** An id, as it is. Control characters are in none. */
export const reference = (maxLength: number) =>
  matching(`is no id of 1 to ${maxLength} characters`, new RegExp(`^\\P{Cc}{1,${maxLength}}$`, 'u'));

export const digits = (minLength: number, maxLength = minLength) =>
  matching(
    `must have ${minLength === maxLength ? maxLength : `${minLength} to ${maxLength}`} digits`,
    new RegExp(`^\\d{${minLength},${maxLength}}$`),
  );

/** Printable ASCII, which a header can have. */
export const headerText = (maxLength: number) =>
  matching(`must have 1 to ${maxLength} printable characters`, new RegExp(`^[\\x21-\\x7e]{1,${maxLength}}$`));

/** A hash of so many hexadecimal digits, in either case. */
export const hex = (length: number) =>
  matching(`must have ${length} hexadecimal digits`, new RegExp(`^[\\da-f]{${length}}$`, 'i'));

/** A word of a table, in either case. */
export function statusWord<Status extends string>(table: Readonly<Record<string, Status>>) {
  const statuses = new Map(Object.entries(table));
  return reader('is no known word', (text) => statuses.get(text.toLowerCase()));
}

/** The code of a SNAP response: it starts with the HTTP status, and its last two digits are the case. */
export const snapCode = (httpStatus: number) =>
  reader(`is no code of SNAP for HTTP ${httpStatus}`, (text) =>
    /^\d{7,8}$/.test(text) && text.startsWith(String(httpStatus))
      ? { whole: text, caseCode: text.slice(-2) }
      : undefined,
  );

const TIMESTAMP = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d)(?:(:\d\d)(\.\d{1,9})?)? ?(Z|[+-]\d\d(?::?\d\d)?)?$/i;

/** @param defaultZone of a text without one; undefined: it needs one */
function readTime(text: string, defaultZone?: string): Date | undefined {
  const [, day, minute, second = ':00', fraction = '', zone = defaultZone] = TIMESTAMP.exec(text) ?? [];
  if (day === undefined || minute === undefined || zone === undefined) return undefined;
  const local = `${day}T${minute}${second}`;
  if (!isExisting(local)) return undefined;
  const offset = zone.replace(/^([+-]\d\d):?(\d\d)?$/, (_, hours: string, minutes = '00') => `${hours}:${minutes}`);
  const read = new Date(`${local}${fraction.slice(0, '.123'.length)}${offset.toUpperCase()}`);
  return Number.isNaN(read.getTime()) ? undefined : read;
}

/**
 * `2020-09-29 11:30:44`, `2020-09-29T04:30:44.123Z`, `2020-09-29T11:30:44+0700`. Without a zone it is in WIB, as the
 * acquirers document it.
 */
export const time = reader('is no time', (text) => readTime(text, '+07:00'));

/** A time with its zone. */
export const zonedTime = reader('is no time with a zone', (text) => readTime(text));

const DAY = /(?:[a-z]{3}, \d\d [a-z]{3} \d{4}|[a-z]{6,9}, \d\d-[a-z]{3}-\d\d|[a-z]{3} [a-z]{3} [ \d]\d)/.source;
const HTTP_DATE = new RegExp(`^${DAY} \\d\\d:\\d\\d:\\d\\d(?: GMT| \\d{4})$`, 'i');

/** The three forms of RFC 9110, section 5.6.7, which are all in UTC. */
export const httpDate = reader('is no date of HTTP', (text) => {
  if (!HTTP_DATE.test(text)) return undefined;
  const read = new Date(text.endsWith('GMT') ? text : `${text} GMT`);
  return Number.isNaN(read.getTime()) ? undefined : read;
});

/** The values of a header, by its lines. A proxy may write a line again: the same value twice is one. */
export function distinctValues(lines: string | readonly string[] = []): string[] {
  return [...new Set([lines].flat().map((line) => line.trim()))];
}

/** The value of a header that has one; undefined if it is absent, or has another value in another line. */
export function soleValue(lines: string | readonly string[] | undefined): string | undefined {
  const [value, ...others] = distinctValues(lines);
  return others.length === 0 ? value : undefined;
}

/** `Date` reads 30 February as 2 March. */
function isExisting(local: string): boolean {
  const read = new Date(`${local}Z`);
  return !Number.isNaN(read.getTime()) && read.toISOString().startsWith(local);
}

/** No duration is longer than a year. */
const MAX_SECONDS = 31_536_000;

/** A duration above 0, as a number or digits, at most a year; else the default. */
export const seconds = (defaultSeconds: number) =>
  GIVEN.transform((value) => {
    const isDigits = typeof value === 'string' && /^\d+$/.test(value.trim());
    const given = isDigits ? Math.min(Number(value), MAX_SECONDS) : value;
    const isDuration = typeof given === 'number' && Number.isFinite(given) && given > 0;
    return isDuration ? Math.min(given, MAX_SECONDS) : defaultSeconds;
  });

/** A text that is only shown, cut at a length; null if there is none. PostgreSQL has no text with a NUL. */
export const shown = (maxLength: number) =>
  GIVEN.transform((value) => {
    const text =
      textOf(value)
        ?.replaceAll(/\p{Cc}/gu, ' ')
        .trim() ?? '';
    return text === '' ? null : Array.from(text).slice(0, maxLength).join('');
  });

/** A field that no rule needs: null if it is absent or invalid. */
export const optional = <Value>(read: z.ZodType<Value>) =>
  GIVEN.transform((value): Value | null => read.safeParse(value).data ?? null);

/** A field that may be absent, null or empty. If it is there, it must be valid. */
export const absentOr = <Value>(read: z.ZodType<Value>) =>
  GIVEN.transform((value, context): Value | null => {
    if (value === undefined || value === null || textOf(value) === '') return null;
    const parsed = read.safeParse(value);
    if (parsed.success) return parsed.data;
    for (const { path, message } of parsed.error.issues) context.addIssue({ code: 'custom', path, message });
    return z.NEVER;
  });

export type ReadFields<Fields> =
  { readonly ok: true; readonly fields: Fields } | { readonly ok: false; readonly reason: string };

/** Reads the fields of a JSON object. The reason names the first invalid field, its value and the rule. */
export function readFields<Schema extends z.ZodType>(schema: Schema, body: unknown): ReadFields<z.output<Schema>> {
  const parsed = schema.safeParse(body);
  if (parsed.success) return { ok: true, fields: parsed.data };
  const { path, message } = parsed.error.issues[0] ?? { path: [], message: '' };
  if (path.length === 0) return { ok: false, reason: `${quote(body)} is no JSON object` };
  return { ok: false, reason: `${path.join('.')} ${quote(valueAt(body, path))} ${message}` };
}

function valueAt(body: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, key) => (typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined),
    body,
  );
}

const MAX_QUOTED_LENGTH = 40;

/** A value as a reason shows it. */
export function quote(value: unknown): string {
  if (value === undefined) return '(absent)';
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'a list' : 'an object';
  const text = JSON.stringify(value);
  return text.length <= MAX_QUOTED_LENGTH ? text : `${text.slice(0, MAX_QUOTED_LENGTH - 1)}…`;
}

/** Why a field is not about our object. */
export function differs(field: string, found: unknown, expected: unknown): string {
  return `${field} is ${quote(found)} instead of ${quote(expected)}`;
}
