import { LINK_LIMITS, type LinkStatus } from '../../domain/payment-link';
import { UNPAID_FINAL_STATUSES } from '../../domain/payment-transitions';
import type { Queryable } from '../connection/pool';
import { onlyRow } from '../connection/require-row';

/** Why a visitor gets no payment: the status of the link, or a limit. */
export type NotOpened = Exclude<LinkStatus, 'active'> | 'used_up' | 'too_many_new' | 'too_many_open';

export type OpenedNumber =
  | { readonly outcome: 'found' | 'new'; readonly paymentId: string; readonly number: number }
  /** The newest number of a once-link is another one than the caller has read; null: it has none. */
  | { readonly outcome: 'moved'; readonly paymentId: null; readonly number: number | null }
  | { readonly outcome: NotOpened; readonly paymentId: null; readonly number: number | null };

interface WantedNumber {
  readonly linkId: string;
  readonly paymentId: string;
  /** The number of a once-link from which the id of the payment is made. Null: the link is reusable. */
  readonly number: number | null;
  readonly at: Date;
}

/** Gives a visitor the payment of a link, or the next number. The link is locked, so two visitors get one number. */
export async function openLinkNumber(
  db: Queryable,
  { linkId, paymentId, number, at }: WantedNumber,
): Promise<OpenedNumber> {
  const { perMinute, open, payments } = LINK_LIMITS;
  const { rows } = await db.query<OpenedNumber>({
    name: 'open_payment_link',
    text: `select outcome, payment_id as "paymentId", number from open_payment_link($1, $2, $3, $4, $5, $6, $7, $8)`,
    values: [linkId, paymentId, number, at, UNPAID_FINAL_STATUSES, perMinute, open, payments],
  });
  return onlyRow(rows);
}
