import { z } from 'zod';
import { MAX_TOTAL_RUPIAH } from '../../domain/money';
import { MAX_ORDER_ID_CHARACTERS } from '../../domain/payment';
import {
  isLinkTitle,
  LINK_KINDS,
  MAX_LINK_TITLE_CHARACTERS,
  OPEN_AMOUNT_RUPIAH,
  type NewLinkTerms,
} from '../../domain/payment-link';
import { DEFAULT_PROVIDER, PROVIDERS } from '../../domain/provider-capabilities';
import { ApiError } from '../../http/api-error';
import { zonedTime } from '../../lib/fields';
import { boundedText } from '../max-length';
import { orNull, ownExpiry, ownReturnUrl } from '../payments/create-payment/payment-request';
import { describeViolation } from '../read-query';

const AMOUNT_RULE = { error: `must be an integer from 1 to ${MAX_TOTAL_RUPIAH}, written as plain digits` };
const rupiah = orNull(z.int(AMOUNT_RULE).min(1, AMOUNT_RULE).max(MAX_TOTAL_RUPIAH, AMOUNT_RULE));

const TITLE_RULE = { error: `must be a text of 1 to ${MAX_LINK_TITLE_CHARACTERS} characters without line breaks` };
const TIME_RULE = 'must be an ISO 8601 timestamp in whole seconds with its zone, such as 2026-11-21T08:00:00Z';

const wholeSecond = z
  .string({ error: TIME_RULE })
  .meta({ format: 'date-time' })
  .transform((text, context) => {
    const read = zonedTime.safeParse(text).data;
    if (read !== undefined && read.getTime() % 1_000 === 0) return read;
    context.addIssue(TIME_RULE);
    return z.NEVER;
  });

/** The body of `POST /payment-links`. Unknown fields are ignored, and reported. */
export const linkRequestSchema = z.object({
  kind: z
    .enum(LINK_KINDS, { error: `must be ${LINK_KINDS.join(' or ')}` })
    .meta({ description: '`once` ends with its first paid transaction; `reusable` takes any number.' }),
  title: z
    .string(TITLE_RULE)
    .refine(isLinkTitle, TITLE_RULE)
    .meta({ description: 'What it is for. Every visitor reads it: no names of customers.' }),
  amount: rupiah.meta({ description: 'Order amount of each transaction. Without it the customer chooses one.' }),
  minimum_amount: rupiah.meta({
    description: `The least of a chosen amount, by default ${OPEN_AMOUNT_RUPIAH.minimum}. Not beside \`amount\`.`,
  }),
  maximum_amount: rupiah.meta({
    description: `The most of a chosen amount, by default ${OPEN_AMOUNT_RUPIAH.maximum}. Not beside \`amount\`.`,
  }),
  provider: z
    .enum(PROVIDERS, { error: `must be ${PROVIDERS.join(' or ')}` })
    .default(DEFAULT_PROVIDER)
    .meta({ description: 'The provider of each QR; must be enabled for the merchant.' }),
  merchant_reference_id: orNull(boundedText(MAX_ORDER_ID_CHARACTERS)).meta({
    description: 'Your own order ID, for each transaction.',
  }),
  expires_at: orNull(wholeSecond).meta({
    description: 'When the link ends: 5 minutes to 366 days ahead. By default it does not.',
  }),
  payment_expires_in: ownExpiry.meta({
    description: 'How long each transaction can be paid, in seconds. By default as your terms have it.',
  }),
  return_url: ownReturnUrl.meta({
    description: 'Where the checkout page of each transaction leads: at a registered address of your shop.',
  }),
});

const KNOWN_FIELDS: ReadonlySet<string> = new Set(Object.keys(linkRequestSchema.shape));

/** The fields that no rule reads. */
export const ignoredLinkFields = (body: object) => Object.keys(body).filter((name) => !KNOWN_FIELDS.has(name));

/** @throws ApiError `invalid_parameter` that names the field and its rule */
export function parseLinkRequest(body: object): NewLinkTerms {
  const parsed = linkRequestSchema.safeParse(body);
  if (!parsed.success) throw new ApiError('invalid_parameter', describeViolation(parsed.error));
  const request = parsed.data;
  return {
    kind: request.kind,
    title: request.title,
    amountRupiah: request.amount,
    minimumRupiah: request.minimum_amount,
    maximumRupiah: request.maximum_amount,
    provider: request.provider,
    merchantReferenceId: request.merchant_reference_id,
    expiresAt: request.expires_at,
    paymentExpiresInSeconds: request.payment_expires_in,
    returnUrl: request.return_url,
  };
}
