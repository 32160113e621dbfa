const JAKARTA_OFFSET_MS = 7 * 60 * 60 * 1000;

/** `2026-11-24T10:00:00+07:00`: whole seconds in WIB, the form that each acquirer documents. */
export function formatTimestamp(timestamp: Date): string {
  return `${new Date(timestamp.getTime() + JAKARTA_OFFSET_MS).toISOString().slice(0, 19)}+07:00`;
}
