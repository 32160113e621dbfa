import type { Request } from 'express';
import { z } from 'zod';
import { decodeCursor } from '../../../db/payments/cursor';
import type { ListPosition } from '../../../db/payments/list-payments';
import { MAX_ORDER_ID_CHARACTERS } from '../../../domain/payment';
import { PAYMENT_STATUSES } from '../../../domain/payment-transitions';
import { PROVIDERS } from '../../../domain/provider-capabilities';
import { reportIgnored } from '../../../http/ignored-input';
import { zonedTime } from '../../../lib/fields';
import { parseLinkId } from '../../../services/links/path-id';
import { MAX_SEARCH_CHARACTERS } from '../../../services/payments/search-payments';
import { boundedText } from '../../max-length';
import { expandSchema } from '../expand';

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 100;
const NUMBER = /^-?\d+(\.\d+)?$/;

/** Any other text is ignored. */
const isNumber = (text: unknown): text is string => typeof text === 'string' && NUMBER.test(text);

/** A number out of bounds is clamped; any other text is the default (docs/contract.md#list). */
function readLimit(text: unknown): number {
  return isNumber(text) ? Math.trunc(Math.min(Math.max(Number(text), 1), MAX_LIMIT)) : DEFAULT_LIMIT;
}

/** A limit that is no number is named in the response. */
export function reportIgnoredLimit(request: Request): void {
  const { limit } = request.query;
  if (limit !== undefined && !isNumber(limit)) reportIgnored(request, 'parameters', ['limit']);
}

const oneOf = <const T extends readonly [string, ...string[]]>(values: T) =>
  z.enum(values, { error: `must be one of ${values.join(', ')}` });

const TIMESTAMP_RULE =
  'must be an ISO 8601 timestamp with its zone, such as 2026-11-21T08:00:00Z, or a day, such as 2026-11-21';

/** A plus sign that was not percent-encoded arrives as a space. */
const UNENCODED_PLUS = / (?=\d\d:?\d\d$)/;

/** @param timeOfDay of a day without a time, UTC */
const timestamp = (timeOfDay: string) =>
  z
    .preprocess(
      (text) => (typeof text === 'string' ? text.trim().replace(UNENCODED_PLUS, '+') : text),
      z.union([z.iso.date().transform((day) => `${day}T${timeOfDay}Z`), z.string().meta({ format: 'date-time' })], {
        error: TIMESTAMP_RULE,
      }),
    )
    .transform((text, context) => {
      const read = zonedTime.safeParse(text).data;
      if (read !== undefined) return read;
      context.addIssue(TIMESTAMP_RULE);
      return z.NEVER;
    });

const cursor = z.string().transform((text, context): ListPosition => {
  const position = decodeCursor(text);
  if (position) return position;
  context.addIssue('is not from a Link header; start again without it');
  return z.NEVER;
});

/** The query of `GET /transactions`. Unknown parameters are ignored, and reported. */
export const listQuerySchema = z.object({
  limit: z.preprocess(readLimit, z.int().min(1).max(MAX_LIMIT)).meta({
    description:
      `Page size, by default ${DEFAULT_LIMIT}. A number out of bounds is clamped; ` +
      `any other text counts as ${DEFAULT_LIMIT}.`,
  }),
  cursor: cursor.optional().meta({
    description: 'The start of the page, unchanged from the `Link` header of the previous page.',
  }),
  status: oneOf(PAYMENT_STATUSES).optional().meta({ description: 'Only transactions in this status.' }),
  provider: oneOf(PROVIDERS).optional().meta({ description: 'Only transactions of this provider.' }),
  merchant_reference_id: boundedText(MAX_ORDER_ID_CHARACTERS)
    .refine((text) => !text.includes('\0'), { error: 'must not have a NUL' })
    .optional()
    .meta({ description: 'Only transactions with this order ID of the merchant.' }),
  created_from: timestamp('00:00:00.000').optional().meta({
    description: 'Only transactions created at this time or later. A day counts from its start, UTC.',
  }),
  created_to: timestamp('23:59:59.999').optional().meta({
    description: 'Only transactions created at this time or earlier. A day counts to its end, UTC.',
  }),
  payment_link: z
    .string()
    .refine((text) => parseLinkId(text) !== undefined, { error: 'must be the id or reference_id of a payment link' })
    .optional()
    .meta({ description: 'Only transactions that were made by this payment link.' }),
  search: boundedText(MAX_SEARCH_CHARACTERS)
    .refine((text) => text.trim() !== '' && !text.includes('\0'), { error: 'must be a text without a NUL' })
    .optional()
    .meta({
      description:
        'Only transactions whose order ID or reference begins with this text, in any case, or whose total is this ' +
        'amount: first those with exactly this order ID, then the newest. It is combined only with `limit` and ' +
        '`expand`, and has one page.',
    }),
  expand: expandSchema,
});

/** The filters that a search cannot be combined with. */
const FILTERS = [
  'cursor',
  'status',
  'provider',
  'merchant_reference_id',
  'created_from',
  'created_to',
  'payment_link',
] as const;

export type ListQuery = z.output<typeof listQuerySchema>;

/** The first filter that is combined with a search. */
export const filterBesideSearch = (query: ListQuery) =>
  query.search === undefined ? undefined : FILTERS.find((name) => query[name] !== undefined);
