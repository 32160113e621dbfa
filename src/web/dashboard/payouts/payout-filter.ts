import { z } from 'zod';
import { decodeCursor, encodeCursor } from '../../../db/payments/cursor';
import type { Payout, PayoutFilter, PayoutPosition } from '../../../db/payouts/list-payouts';
import { PAYOUT_STATUSES } from '../../../domain/payout-transitions';
import { endOfDay, startOfDay, type Locale } from '../../ui/format';
import { areDaysInOrder, dayField, DAYS_NOT_IN_ORDER } from '../list-fields';

const position = z.string().transform((text, context): PayoutPosition => {
  const found = decodeCursor(text);
  if (found) return { requestedAt: found.createdAt, id: found.id };
  context.addIssue('cursor');
  return z.NEVER;
});

/** The query of the list: its address is the saved view. */
export const payoutFilterSchema = z
  .object({
    status: z.enum(PAYOUT_STATUSES, { error: 'status' }).optional(),
    from: dayField,
    to: dayField,
    older: position.optional(),
  })
  .refine(areDaysInOrder, DAYS_NOT_IN_ORDER);

export function payoutFilter(
  merchantId: string,
  { status, from, to, older }: z.output<typeof payoutFilterSchema>,
  zone: Locale['zone'],
): Omit<PayoutFilter, 'limit'> {
  return {
    merchantId,
    status: status ?? null,
    from: from === undefined ? null : startOfDay(from, zone),
    to: to === undefined ? null : endOfDay(to, zone),
    after: older ?? null,
  };
}

/** The cursor of the payouts that follow this one. */
export function cursorAfter({ requestedAt, id }: Payout): string {
  return encodeCursor({ createdAt: requestedAt, id });
}
