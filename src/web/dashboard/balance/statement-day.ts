import type { Request } from 'express';
import { z } from 'zod';
import { PageError } from '../../page/page-error';

const daySchema = z.iso.date().refine((day) => day >= '2000-01-01');

/** The day of the path. @throws PageError `not_found` for a text that is no day */
export function dayOf({ params }: Request): string {
  const { data: day } = daySchema.safeParse(params.day);
  if (day === undefined) throw new PageError('not_found', 'no day');
  return day;
}
