import { validate as isUuid } from 'uuid';
import { z } from 'zod';
import { OPERATORS, type ActionStart, type MerchantActionFilter } from '../../../db/merchants/list-merchant-actions';
import { endOfDay, startOfDay, type Locale } from '../../ui/format';
import { areDaysInOrder, dayField, DAYS_NOT_IN_ORDER } from '../list-fields';
import { isRecordedAction } from './activity-texts';

const startIn = (direction: ActionStart['direction']) =>
  z
    .string()
    .regex(/^\d{1,15}$/, { error: 'cursor' })
    .transform((text): ActionStart => ({ direction, than: Number(text) }))
    .optional();

/** The query of the list: its address is the saved view. */
export const activityFilterSchema = z
  .object({
    person: z
      .string()
      .refine((text) => text === OPERATORS || isUuid(text), { error: 'person' })
      .optional(),
    action: z.string().refine(isRecordedAction, { error: 'action' }).optional(),
    from: dayField,
    to: dayField,
    older: startIn('older'),
    newer: startIn('newer'),
  })
  .refine(areDaysInOrder, DAYS_NOT_IN_ORDER);

export type ActivityFilter = z.output<typeof activityFilterSchema>;

export function actionFilter(
  merchantId: string,
  { person, action, from, to }: ActivityFilter,
  zone: Locale['zone'],
): MerchantActionFilter {
  return {
    merchantId,
    person: person ?? null,
    action: action ?? null,
    from: from === undefined ? null : startOfDay(from, zone),
    to: to === undefined ? null : endOfDay(to, zone),
  };
}
