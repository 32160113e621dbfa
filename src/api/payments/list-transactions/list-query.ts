import { z } from 'zod';
import type { ListPosition } from '../../../db/queries/list-payments';
import { PAYMENT_STATUSES } from '../../../domain/payment-transitions';
import { PROVIDERS } from '../../../domain/provider-capabilities';
import { ApiError } from '../../api-error';
import { boundedText } from '../../max-length';
import { decodeCursor } from './cursor';

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 100;
const NUMBER = /^-?\d+(\.\d+)?$/;

/** Out of bounds is clamped, no number is the default (design §4). */
function readLimit(text: unknown): number {
  if (typeof text !== 'string' || !NUMBER.test(text)) return DEFAULT_LIMIT;
  return Math.trunc(Math.min(Math.max(Number(text), 1), MAX_LIMIT));
}

const oneOf = <const T extends readonly [string, ...string[]]>(values: T) =>
  z.enum(values, { error: `must be one of ${values.join(', ')}` });

const TIMESTAMP_RULE =
  'must be an ISO 8601 instant with its zone, such as 2026-11-21T08:00:00Z, or a day, such as 2026-11-21';

/** @param timeOfDay which a day without a time stands for, UTC */
const timestamp = (timeOfDay: string) =>
  z
    // A plus sign that was not percent-encoded comes in as a space.
    .preprocess(
      (text) => (typeof text === 'string' ? text.replace(' ', '+') : text),
      z.union([z.iso.date(), z.iso.datetime({ offset: true })], { error: TIMESTAMP_RULE }),
    )
    .transform((text) => new Date(text.includes('T') ? text : `${text}T${timeOfDay}Z`));

const cursor = z.string({ error: 'must be given once' }).transform((text, context): ListPosition => {
  const position = decodeCursor(text);
  if (position) return position;
  context.addIssue('is not one that a Link header gave; start again without it');
  return z.NEVER;
});

/** The query of `GET /transactions`. Unknown parameters are ignored. */
export const listQuerySchema = z.object({
  limit: z.preprocess(readLimit, z.int().min(1).max(MAX_LIMIT)).meta({
    description: `How many transactions a page has, by default ${DEFAULT_LIMIT}. Out of bounds is clamped, and what is no number counts as ${DEFAULT_LIMIT}.`,
  }),
  cursor: cursor.optional().meta({
    description: 'Where the page begins: only as it stands in the `Link` header of the page before.',
  }),
  status: oneOf(PAYMENT_STATUSES).optional().meta({ description: 'Only transactions in this status.' }),
  provider: oneOf(PROVIDERS).optional().meta({ description: 'Only transactions of this provider.' }),
  merchant_reference_id: boundedText(64)
    .refine((text) => !text.includes('\0'), { error: 'must not have a NUL' })
    .optional()
    .meta({ description: 'Only transactions with this order ID of yours.' }),
  created_from: timestamp('00:00:00.000').optional().meta({
    description: 'Only transactions created at this instant or later. A day counts from its beginning, UTC.',
  }),
  created_to: timestamp('23:59:59.999').optional().meta({
    description: 'Only transactions created at this instant or earlier. A day counts to its end, UTC.',
  }),
});

export type ListQuery = z.output<typeof listQuerySchema>;

/**
 * The contract has no code for a query that cannot be understood. To leave such a filter out would show transactions
 * that were not asked for, so it is refused: at that address there is no list.
 * @throws ApiError `not_found` that names the parameter and its rule
 */
export function parseListQuery(query: unknown): ListQuery {
  const parsed = listQuerySchema.safeParse(query);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new ApiError('not_found', `${issue?.path.join('.') ?? 'The query'} ${issue?.message ?? 'is not understood'}.`);
}
