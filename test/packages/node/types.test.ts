import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { z } from 'zod';
import type * as sdk from '../../../packages/node/src/index';
import * as values from '../../../packages/node/src/index';
import { VERSION } from '../../../packages/node/src/version';
import type { MerchantEndpoint } from '../../../src/api/endpoint';
import type {
  invoiceEventSchema,
  latePaymentEventSchema,
  payoutEventSchema,
  webhookEventSchema,
} from '../../../src/api/openapi/webhook-event';
import type { paymentLinkSchema } from '../../../src/api/payment-links/link-fields';
import type { linkRequestSchema } from '../../../src/api/payment-links/link-request';
import type { cancelByMerchant } from '../../../src/api/payments/cancel-payment';
import type { bulkItemSchema } from '../../../src/api/payments/create-payment/create-bulk';
import type { createdPaymentSchema } from '../../../src/api/payments/create-payment/create-single';
import type {
  bulkItemRequestSchema,
  paymentRequestSchema,
} from '../../../src/api/payments/create-payment/payment-request';
import type { getPayment } from '../../../src/api/payments/get-payment';
import type { getQris } from '../../../src/api/payments/get-qris';
import type { listQuerySchema } from '../../../src/api/payments/list-transactions/list-query';
import type { listTransactions } from '../../../src/api/payments/list-transactions/list-transactions';
import type { refundByMerchant } from '../../../src/api/payments/refund-payment';
import { API_ERRORS, type ApiErrorCode, type ErrorReason } from '../../../src/domain/errors';
import type { WebhookEvent } from '../../../src/domain/events';
import type { LinkStatus } from '../../../src/domain/payment-link';
import type { PaymentStatus } from '../../../src/domain/payment-transitions';
import { PACKAGE_ROOT } from '../../../src/package-info';

/** Whether the compiler regards two types as identical: it compares two conditional types that are not resolved. */
// oxlint-disable typescript/no-unnecessary-type-parameters
type Equal<One, Other> =
  (<Any>() => Any extends One ? 1 : 2) extends <Any>() => Any extends Other ? 1 : 2 ? true : false;
// oxlint-enable typescript/no-unnecessary-type-parameters
/** One object type instead of an intersection, without `readonly`, at every depth. */
type Plain<Type> = Type extends object ? { -readonly [Key in keyof Type]: Plain<Type[Key]> } : Type;
type Same<One, Other> = Equal<Plain<One>, Plain<Other>>;

type BodyOf<Endpoint> = Endpoint extends MerchantEndpoint<infer Body> ? Body : never;
type Field<Body, Name extends string> = Body extends Record<Name, infer Value> ? Value : never;
type ItemOf<List> = List extends readonly (infer Item)[] ? Item : never;
type PaymentOf<Endpoint> = Field<BodyOf<Endpoint>, 'payment'>;

/** What a caller may send. The parser also reads its own tokens of numbers, and unknown keys of a customer. */
type Free = 'customer' | 'metadata';
type RequestOf<Schema extends z.ZodType> = Omit<z.input<Schema>, Free>;
type Metadata = Exclude<ItemOfRecord<NonNullable<z.input<typeof paymentRequestSchema>['metadata']>>, object>;
type ItemOfRecord<Values> = Values extends Record<string, infer Value> ? Value : never;
type KnownKeys<Type> = keyof { [Key in keyof Type as string extends Key ? never : Key]: Type[Key] };

/**
 * The compiler checks each entry: the types of @lunas/node are those of the API's schemas. `tsc` fails at the name of a
 * type that differs.
 */
const SAME = {
  CreatedPayment: true satisfies Same<sdk.CreatedPayment, z.output<typeof createdPaymentSchema>>,
  Creation: true satisfies Same<Omit<sdk.Creation, 'currentStatus'>, z.output<typeof createdPaymentSchema>>,
  PaymentDetail: true satisfies Same<sdk.PaymentDetail, PaymentOf<typeof getPayment>>,
  CancelledPayment: true satisfies Same<sdk.CancelledPayment, PaymentOf<typeof cancelByMerchant>>,
  PaymentSummary: true satisfies Same<sdk.PaymentSummary, PaymentOf<typeof refundByMerchant>>,
  BulkItem: true satisfies Same<sdk.BulkItem, z.output<typeof bulkItemSchema>>,
  Qris: true satisfies Same<sdk.Qris, Field<BodyOf<typeof getQris>, 'qris'>>,
  Transaction: true satisfies Same<sdk.Transaction, ItemOf<Field<BodyOf<typeof listTransactions>, 'transactions'>>>,
  WebhookEvent: true satisfies Same<sdk.WebhookEvent, z.output<typeof webhookEventSchema>>,
  LatePaymentEvent: true satisfies Same<sdk.LatePaymentEvent, z.output<typeof latePaymentEventSchema>>,
  PayoutEvent: true satisfies Same<sdk.PayoutEvent, z.output<typeof payoutEventSchema>>,
  InvoiceEvent: true satisfies Same<sdk.InvoiceEvent, z.output<typeof invoiceEventSchema>>,
  ReceivedEvent: true satisfies Equal<sdk.ReceivedEvent['event'], WebhookEvent | 'ping'>,
  CreatePaymentRequest: true satisfies Same<
    Omit<sdk.CreatePaymentRequest, Free>,
    RequestOf<typeof paymentRequestSchema>
  >,
  BulkItemRequest: true satisfies Same<
    Omit<sdk.BulkItemRequest, Free>,
    Omit<RequestOf<typeof bulkItemRequestSchema>, 'provider'>
  >,
  Customer: true satisfies Equal<
    KnownKeys<sdk.Customer>,
    KnownKeys<NonNullable<z.input<typeof paymentRequestSchema>['customer']>>
  >,
  Metadata: true satisfies Equal<sdk.Metadata[string], Metadata>,
  PaymentLink: true satisfies Same<sdk.PaymentLink, z.output<typeof paymentLinkSchema>>,
  CreatePaymentLinkRequest: true satisfies Same<sdk.CreatePaymentLinkRequest, RequestOf<typeof linkRequestSchema>>,
  PaymentLinkFilter: true satisfies Equal<sdk.PaymentLinkFilter['status'], LinkStatus | undefined>,
  // `transactions.list` sets the cursor itself.
  ListFilter: true satisfies Equal<keyof sdk.ListFilter, Exclude<keyof typeof listQuerySchema.shape, 'cursor'>>,
  FilteredStatus: true satisfies Equal<sdk.ListFilter['status'], z.input<typeof listQuerySchema>['status']>,
  PaymentStatus: true satisfies Equal<sdk.PaymentStatus, PaymentStatus>,
  ApiErrorCode: true satisfies Equal<sdk.ApiErrorCode, ApiErrorCode>,
  KnownErrorReason: true satisfies Equal<sdk.KnownErrorReason, ErrorReason>,
} as const;

it('the package has the types of the schemas, as tsc checks', () => {
  expect(Object.values(SAME).every(Boolean)).toBe(true);
});

/** `rate_limited` → `RateLimitedError`; `server_error` → `ServerError`. */
const classNameOf = (code: string): string =>
  `${code
    .replace(/_error$/, '')
    .split('_')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')}Error`;

it('exports a class for each error code', () => {
  const classes = Object.keys(API_ERRORS).map(classNameOf);
  expect(Object.keys(values)).toEqual(expect.arrayContaining(classes));
});

it('exports the same values as an ECMAScript module', () => {
  const module = readFileSync(path.join(PACKAGE_ROOT, 'packages/node/src/index.mts'), 'utf8');
  const [, list = ''] = /export \{([^}]*)\} from '\.\/index\.js'/.exec(module) ?? [];
  const names = list.split(',').map((name) => name.trim());
  expect(names.filter(Boolean).toSorted()).toEqual(Object.keys(values).toSorted());
});

it('sends the version of its package.json', () => {
  const { version } = JSON.parse(readFileSync(path.join(PACKAGE_ROOT, 'packages/node/package.json'), 'utf8'));
  expect(VERSION).toBe(version);
});
