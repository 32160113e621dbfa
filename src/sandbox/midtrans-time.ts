const JAKARTA_OFFSET_MS = 7 * 60 * 60 * 1000;

/** Midtrans' times have no zone and mean GMT+7: `2020-09-29 11:46:13`. */
export function formatMidtransTime(timestamp: Date): string {
  return new Date(timestamp.getTime() + JAKARTA_OFFSET_MS).toISOString().slice(0, 19).replace('T', ' ');
}

/** Reads `custom_expiry.order_time`, which does have a zone: `2016-12-07 11:54:12 +0700`. Undefined where it is none. */
export function parseOrderTime(text: string): Date | undefined {
  const parts = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d) ([+-]\d\d)(\d\d)$/.exec(text);
  if (!parts) return undefined;
  const timestamp = new Date(`${parts[1]}T${parts[2]}${parts[3]}:${parts[4]}`);
  return Number.isNaN(timestamp.getTime()) ? undefined : timestamp;
}
