import { z } from 'zod';
import { merchantCode, pagePath } from '../../page/page-path';

const ofDay = { code: merchantCode, day: z.iso.date().refine((day) => day >= '2000-01-01') };

export const balancePath = pagePath('/m/:code/balance', { code: merchantCode });
export const statementPath = pagePath('/m/:code/balance/days/:day', ofDay);
/** The statement of a month or of other days: `?from=` and `?to=`. */
export const periodPath = pagePath('/m/:code/balance/statement', { code: merchantCode });
export const exportPeriodPath = pagePath('/m/:code/balance/statement.csv', { code: merchantCode });
export const exportStatementPath = pagePath('/m/:code/balance/days/:day.csv', ofDay);
