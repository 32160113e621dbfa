import { z } from 'zod';
import { decodeCursor } from '../../../db/payments/cursor';
import type { PageStart } from '../../../db/payments/list-payment-page';
import type { ListPosition } from '../../../db/payments/list-payments';
import { readRupiah, RUPIAH_TEXT } from '../../../domain/money';
import { PAYMENT_STATUSES } from '../../../domain/payment-transitions';
import { PROVIDERS } from '../../../domain/provider-capabilities';
import { MAX_SEARCH_CHARACTERS } from '../../../services/payments/search-payments';
import { areDaysInOrder, dayField, DAYS_NOT_IN_ORDER } from '../list-fields';
import { PAYMENT_GROUP_NAMES } from './payment-groups';

/** An amount as people write it. */
export const amountField = z
  .string({ error: 'amount' })
  .max(16, { error: 'amount' })
  .regex(RUPIAH_TEXT, { error: 'amount' })
  .transform(readRupiah);

const position = z.string().transform((text, context): ListPosition => {
  const found = decodeCursor(text);
  if (found) return found;
  context.addIssue('cursor');
  return z.NEVER;
});

const cursorOf = (direction: PageStart['direction']) =>
  position.transform((than): PageStart => ({ direction, than })).optional();

const filterFields = {
  q: z
    .string()
    .max(MAX_SEARCH_CHARACTERS, { error: 'text' })
    .refine((text) => !text.includes('\0'), { error: 'text' })
    .optional(),
  group: z.enum(PAYMENT_GROUP_NAMES, { error: 'group' }).default('all'),
  status: z.enum(PAYMENT_STATUSES, { error: 'group' }).optional(),
  provider: z.enum(PROVIDERS, { error: 'provider' }).optional(),
  from: dayField,
  to: dayField,
  amount: amountField.optional(),
  older: cursorOf('older'),
  newer: cursorOf('newer'),
  /** Above the newest payment of an open page, which is read again. */
  top: position.optional(),
};

interface DaysAndAmount {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly amount?: number | undefined;
}

/** The filter compares the payments of a day one by one; the search finds an amount of any day. */
const hasDayOfAmount = ({ from, to, amount }: DaysAndAmount) =>
  amount === undefined || (from !== undefined && from === to);

/** The query of the list: its address is the saved view. */
export const listFilterSchema = z
  .object(filterFields)
  .refine(areDaysInOrder, DAYS_NOT_IN_ORDER)
  .refine(hasDayOfAmount, { error: 'amountDay', path: ['amount'] });

export type ListFilter = z.output<typeof listFilterSchema>;
