const JAKARTA_OFFSET_MS = 7 * 60 * 60 * 1000;

/** Midtrans' times are in GMT+7, without a zone: `2020-09-29 11:46:13`. */
export function formatMidtransTime(timestamp: Date): string {
  return new Date(timestamp.getTime() + JAKARTA_OFFSET_MS).toISOString().slice(0, 19).replace('T', ' ');
}

/** Parses `custom_expiry.order_time`, which has a zone: `2016-12-07 11:54:12 +0700`. Undefined if malformed. */
export function parseOrderTime(text: string): Date | undefined {
  const parts = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d) ([+-]\d\d)(\d\d)$/.exec(text);
  if (!parts) return undefined;
  const timestamp = new Date(`${parts[1]}T${parts[2]}${parts[3]}:${parts[4]}`);
  return Number.isNaN(timestamp.getTime()) ? undefined : timestamp;
}
