import { z } from 'zod';
import type { Queryable } from '../../db/connection/pool';
import type { AuditDependencies } from '../audit/audit';
import { Operation } from '../operations/operation';
import { done } from '../operations/rejections';

/** Days from now on, besides Saturdays and Sundays, on which banks do not work: `YYYY-MM-DD`. */
export async function listBankHolidays(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<{ day: string }>(
    'select day::text from bank_holidays where day >= booking_day(now()) order by day',
  );
  return rows.map(({ day }) => day);
}

/** Known days are kept. */
export const addBankHolidays = new Operation({
  name: 'bank_holiday.add',
  operator: 'all',
  path: z.object({}),
  input: z.object({ days: z.array(z.iso.date()) }),
  rejections: {},
  messages: {},
  load: ({ db }: AuditDependencies) => listBankHolidays(db),
  target: ({ input }) => input.days.join(', '),
  async perform({ needs: { db }, input: { days } }) {
    await db.query('insert into bank_holidays (day) select unnest($1::date[]) on conflict (day) do nothing', [days]);
    return done(days);
  },
});
