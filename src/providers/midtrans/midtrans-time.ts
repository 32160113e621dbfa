import { formatInWib } from '../../domain/wib';

/** `custom_expiry.order_time`, the only time with a zone: `2016-12-07 11:54:12 +0700`. */
export function formatOrderTime(timestamp: Date): string {
  const local = formatInWib(timestamp);
  return `${local.slice(0, 10)} ${local.slice(11, 19)} +0700`;
}
