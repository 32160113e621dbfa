import { z } from 'zod';
import { decodeCursor } from '../../../db/payments/cursor';
import type { PageStart } from '../../../db/payments/list-payment-page';
import type { ListPosition } from '../../../db/payments/list-payments';
import { PAYMENT_STATUSES } from '../../../domain/payment-transitions';
import { PROVIDERS } from '../../../domain/provider-capabilities';
import { areDaysInOrder, dayField, DAYS_NOT_IN_ORDER } from '../list-fields';
import { PAYMENT_GROUP_NAMES } from './payment-groups';

/** `50000`, `50.000` or `Rp 50.000`: dots separate thousands. */
export const amountField = z
  .string({ error: 'amount' })
  .max(16, { error: 'amount' })
  .regex(/^(rp\.? ?)?(\d{1,3}(\.\d{3})+|\d{1,8})$/i, { error: 'amount' })
  .transform((text) => Number(text.replaceAll(/\D/g, '')));

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
    .max(64, { error: 'text' })
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

/** No index has the amount. */
const hasDayOfAmount = ({ from, to, amount }: DaysAndAmount) =>
  amount === undefined || (from !== undefined && from === to);

/** The query of the list: its address is the saved view. */
export const listFilterSchema = z
  .object(filterFields)
  .refine(areDaysInOrder, DAYS_NOT_IN_ORDER)
  .refine(hasDayOfAmount, { error: 'amountDay', path: ['amount'] });

export type ListFilter = z.output<typeof listFilterSchema>;
