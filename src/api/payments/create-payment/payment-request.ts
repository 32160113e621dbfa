import { z } from 'zod';
import type { ErrorReason } from '../../../domain/errors';
import { MAX_TOTAL_RUPIAH } from '../../../domain/money';
import {
  isDescription,
  MAX_DESCRIPTION_CHARACTERS,
  MAX_ORDER_ID_CHARACTERS,
  OWN_EXPIRY_SECONDS,
} from '../../../domain/payment';
import { CURRENCY, DEFAULT_PROVIDER, PAYMENT_METHODS, PROVIDERS } from '../../../domain/provider-capabilities';
import { ApiError } from '../../../http/api-error';
import { NumberToken } from '../../../http/strict-json';
import { distinctValues } from '../../../lib/fields';
import type { NewPayment } from '../../../services/payments/create/new-payment';
import { urlFormatViolation } from '../../../webhooks/ssrf-guard';
import { boundedText } from '../../max-length';

/** 1 to 255 printable ASCII characters. */
const IDEMPOTENCY_KEY = /^[\x20-\x7e]{1,255}$/;
const METADATA_VALUE_RULE = 'must be a string of at most 500 characters, a number or a boolean';

/** An absent field is null. */
export const orNull = <Schema extends z.ZodType>(schema: Schema) =>
  schema.nullish().transform((value) => value ?? null);

const customer = z
  .object({ name: boundedText(100), email: boundedText(254), phone: boundedText(32) }, { error: 'must be an object' })
  .partial()
  .catchall(boundedText(500));

const metadataNumber = z.union([
  z.number(),
  z
    .instanceof(NumberToken)
    .transform(({ token }) => Number(token))
    .pipe(z.number()),
]);
const metadata = z
  .record(boundedText(40), z.union([boundedText(500), metadataNumber, z.boolean()], { error: METADATA_VALUE_RULE }), {
    error: ({ code }) => (code === 'invalid_key' ? 'has a key of more than 40 characters' : 'must be an object'),
  })
  .refine((value) => Object.keys(value).length <= 50, { error: 'must have at most 50 keys' });

const IDEMPOTENCY_KEY_RULE = { error: 'must be a string of 1 to 255 printable ASCII characters' };
const idempotencyKey = orNull(z.string(IDEMPOTENCY_KEY_RULE).regex(IDEMPOTENCY_KEY, IDEMPOTENCY_KEY_RULE)).meta({
  description: 'Identifies this item: 1 to 255 printable ASCII characters. Recommended.',
});

/** All items are created concurrently, so that one deadline holds for the whole request. */
export const MAX_ITEMS = 50;

const AMOUNT_RULE = `must be an integer from 1 to ${MAX_TOTAL_RUPIAH}, written as plain digits`;

/** What most developers do wrong first has a text of its own. */
const amountError = {
  error({ input }: { readonly input?: unknown }): string {
    if (input === undefined) return `is missing: it ${AMOUNT_RULE}`;
    return typeof input === 'string' ? `${AMOUNT_RULE} without quotes: "amount": 50000` : AMOUNT_RULE;
  },
};

const EXPIRY_RULE = {
  error: `must be an integer from ${OWN_EXPIRY_SECONDS.min} to ${OWN_EXPIRY_SECONDS.max}, in seconds`,
};

const MAX_RETURN_URL_CHARACTERS = 500;
const RETURN_URL_RULE = { error: `must be an https URL of at most ${MAX_RETURN_URL_CHARACTERS} characters` };

const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/** A server of a developer has no https; production registers no address without it. */
function isReturnUrl(text: string): boolean {
  if (text.length > MAX_RETURN_URL_CHARACTERS || text.includes('#') || !URL.canParse(text)) return false;
  const environment = LOOPBACK.has(new URL(text).hostname) ? 'sandbox' : 'production';
  return urlFormatViolation(text, environment) === null;
}

/** How long a customer can pay, in seconds. */
export const ownExpiry = orNull(
  z.int(EXPIRY_RULE).min(OWN_EXPIRY_SECONDS.min, EXPIRY_RULE).max(OWN_EXPIRY_SECONDS.max, EXPIRY_RULE),
);

/** An address to which customers return. Whether it is one of the shop, only the merchant's row decides. */
export const ownReturnUrl = orNull(z.string(RETURN_URL_RULE).refine(isReturnUrl, RETURN_URL_RULE));

const DESCRIPTION_RULE = {
  error: `must be a text of 1 to ${MAX_DESCRIPTION_CHARACTERS} characters without line breaks`,
};

/** The body of `POST /payments` (docs/contract.md#create). Unknown fields are ignored, and reported. */
export const paymentRequestSchema = z.object({
  amount: z.int(amountError).min(1, amountError).max(MAX_TOTAL_RUPIAH, amountError).meta({
    description: 'Order amount in whole rupiah, written as plain digits. The same limit holds for `total_amount`.',
  }),
  currency: z
    .literal(CURRENCY, { error: `must be ${CURRENCY}` })
    .default(CURRENCY)
    .meta({ description: 'Only `IDR`.' }),
  payment_method: z.enum(PAYMENT_METHODS).default('qris').meta({ description: 'Only `qris`.' }),
  provider: z
    .enum(PROVIDERS, { error: `must be ${PROVIDERS.join(' or ')}` })
    .default(DEFAULT_PROVIDER)
    .meta({ description: 'The provider of the QR; must be enabled for the merchant.' }),
  merchant_reference_id: orNull(boundedText(MAX_ORDER_ID_CHARACTERS)).meta({ description: 'Your own order ID.' }),
  customer: orNull(customer).meta({
    description: 'The customer; further keys with texts are allowed. Stored encrypted.',
  }),
  metadata: orNull(metadata).meta({ description: 'Your own data, at most 50 keys. Stored encrypted.' }),
  expires_in: ownExpiry.meta({
    description: 'How long the customer can pay, in seconds. By default as your terms have it.',
  }),
  return_url: ownReturnUrl.meta({
    description: 'Where the checkout page leads after this payment: at a registered address of your shop.',
  }),
  description: orNull(z.string(DESCRIPTION_RULE).refine(isDescription, DESCRIPTION_RULE)).meta({
    description: 'What the customer pays for, on the checkout page and the receipt. Stored encrypted.',
  }),
});

type PaymentRequest = z.output<typeof paymentRequestSchema>;

export const toNewPayment = (request: PaymentRequest): NewPayment => ({
  amountRupiah: request.amount,
  paymentMethod: request.payment_method,
  provider: request.provider,
  merchantReferenceId: request.merchant_reference_id,
  customer: request.customer,
  metadata: request.metadata,
  expiresInSeconds: request.expires_in,
  returnUrl: request.return_url,
  description: request.description,
});

/** An item of a bulk. Absent fields, and always the provider, are taken from the top of the request. */
export const bulkItemRequestSchema = paymentRequestSchema.extend({ idempotency_key: idempotencyKey });

/** An item as a merchant sends it: the provider is that of the whole bulk. */
export const itemRequestSchema = bulkItemRequestSchema.omit({ provider: true });

/** For the documentation: `create-bulk.ts` parses each item by itself, so that a message names the item. */
export const bulkRequestSchema = z.object({
  payments: z.array(itemRequestSchema).min(1).max(MAX_ITEMS),
  ...paymentRequestSchema.pick({ currency: true, payment_method: true, provider: true }).shape,
});

export type BulkItemRequest = z.output<typeof bulkItemRequestSchema>;

const MAX_SHOWN_CHARACTERS = 80;

/** Fields whose errors have a reason of their own, in the order in which they are reported. */
const FIELD_REASONS: Readonly<Record<string, ErrorReason>> = {
  amount: 'amount_invalid',
  payment_method: 'payment_method_unknown',
};

/** @throws ApiError `invalid_json` */
export function requireObject(body: unknown, name = 'The body'): Record<string, unknown> {
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return { ...body };
  throw new ApiError('body_not_json', `${name} must be a JSON object.`);
}

/**
 * @param at precedes the field name in a message, such as `payments[3].`
 * @throws ApiError that names the field and the rule
 */
export function parseRequest<ParsedBody>(
  schema: z.ZodType<ParsedBody>,
  body: Record<string, unknown>,
  at = '',
): ParsedBody {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.map((issue) => ({ field: issue.path.join('.'), rule: issue.message }));
  const checked = Object.keys(FIELD_REASONS).map((name) => issues.find(({ field }) => field === name));
  const { field, rule } = checked.find((issue) => issue !== undefined) ?? issues[0] ?? { field: '', rule: '' };
  // A nested name, such as a key of `customer`, may be personal data.
  const [topField = ''] = field.split('.');
  throw new ApiError(FIELD_REASONS[field] ?? 'field_invalid', `${at}${messageFor(field, rule)}`, {
    internal: `${at}${messageFor(topField, rule)}`,
  });
}

function messageFor(field: string, rule: string): string {
  if (field === 'payment_method') return 'payment_method is not supported; use qris.';
  return `${truncated(field)} ${rule}.`;
}

/** The caller chooses the keys of `customer` and `metadata`; they can be as long as the body. */
function truncated(field: string): string {
  return field.length > MAX_SHOWN_CHARACTERS ? `${field.slice(0, MAX_SHOWN_CHARACTERS)}…` : field;
}

/**
 * The `Idempotency-Key` of a request; null if it has none. Node.js joins the values of a repeated header: as another
 * key, they would make a repeat another payment.
 * @param values of each header line; the same value twice is one key
 * @param code of an endpoint that creates no payment
 * @throws ApiError `payment_create_failed`, or that code, for two keys, or one that is not 1 to 255 printable ASCII
 *   characters
 */
export function parseIdempotencyKey(values: readonly string[] = [], code?: 'invalid_parameter'): string | null {
  const [key, ...others] = distinctValues(values);
  if (key === undefined) return null;
  if (others.length > 0) throw new ApiError('idempotency_key_invalid', 'Idempotency-Key must occur once.', { code });
  if (IDEMPOTENCY_KEY.test(key)) return key;
  throw new ApiError('idempotency_key_invalid', 'Idempotency-Key must be 1 to 255 printable ASCII characters.', {
    code,
  });
}
