import { z } from 'zod';
import { decodeCursor } from '../../../api/payments/list-transactions/cursor';
import type { PageStart } from '../../../db/queries/list-payment-page';
import { PAYMENT_STATUSES } from '../../../domain/payment-transitions';
import { PAYMENT_GROUP_NAMES } from './payment-groups';

const day = z.iso.date({ error: 'day' }).optional();

const cursorOf = (direction: PageStart['direction']) =>
  z
    .string()
    .transform((text, context): PageStart => {
      const than = decodeCursor(text);
      if (than) return { direction, than };
      context.addIssue('cursor');
      return z.NEVER;
    })
    .optional();

/** The query of the list: its address is the saved view. */
export const listFilterSchema = z
  .object({
    q: z
      .string()
      .max(64, { error: 'text' })
      .refine((text) => !text.includes('\0'), { error: 'text' })
      .optional(),
    group: z.enum(PAYMENT_GROUP_NAMES, { error: 'group' }).default('all'),
    status: z.enum(PAYMENT_STATUSES, { error: 'group' }).optional(),
    from: day,
    to: day,
    older: cursorOf('older'),
    newer: cursorOf('newer'),
  })
  .refine(({ from, to }) => from === undefined || to === undefined || from <= to, { error: 'order', path: ['from'] });

export type ListFilter = z.output<typeof listFilterSchema>;
