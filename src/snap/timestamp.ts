const JAKARTA_OFFSET_MS = 7 * 60 * 60 * 1000;
const TIMESTAMP = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d{1,9})?(Z|[+-]\d\d:?\d\d)?$/;

/** `2026-11-24T10:00:00+07:00`: whole seconds in WIB, the form that each acquirer documents. */
export function formatTimestamp(timestamp: Date): string {
  return `${new Date(timestamp.getTime() + JAKARTA_OFFSET_MS).toISOString().slice(0, 19)}+07:00`;
}

/** Reads a timestamp to the second. Without a zone it is in WIB. Undefined if it is malformed. */
export function parseTimestamp(text: string): Date | undefined {
  const [, seconds, zone = '+07:00'] = TIMESTAMP.exec(text) ?? [];
  if (seconds === undefined) return undefined;
  const timestamp = new Date(seconds + zone.replace(/^([+-]\d\d):?(\d\d)$/, '$1:$2'));
  return Number.isNaN(timestamp.getTime()) ? undefined : timestamp;
}
