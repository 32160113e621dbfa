import { formatInWib } from '../../domain/wib';

/** Midtrans' times are GMT+7 without a zone: `2020-09-29 11:30:44`. Undefined for other texts. */
export function parseMidtransTime(text: string): Date | undefined {
  const parts = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)$/.exec(text);
  if (!parts) return undefined;
  const timestamp = new Date(`${parts[1]}T${parts[2]}+07:00`);
  return Number.isNaN(timestamp.getTime()) ? undefined : timestamp;
}

/** `custom_expiry.order_time`, the only time with a zone: `2016-12-07 11:54:12 +0700`. */
export function formatOrderTime(timestamp: Date): string {
  const local = formatInWib(timestamp);
  return `${local.slice(0, 10)} ${local.slice(11, 19)} +0700`;
}
