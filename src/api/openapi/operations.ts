import { z } from 'zod';
import type { ApiErrorCode } from '../../domain/errors';
import { listQuerySchema } from '../payments/list-transactions/list-query';
import {
  bulkItemSchema,
  cancelledPaymentSchema,
  createdPaymentSchema,
  listedPaymentSchema,
  paymentDetailSchema,
  qrisSchema,
  refundedPaymentSchema,
} from '../payments/payment-fields';
import type { ResponseHeader } from './response-headers';
import * as examples from '../payments/example-payment';
import { CREATE_BODIES } from '../payments/create-payment/request-bodies';

/** Example values by name; the name is what a reader chooses by. */
type Examples = Readonly<Record<string, unknown>>;

/** What the documentation says about a route for merchants. */
export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  /** Markdown. */
  readonly description: string;
  readonly query?: z.ZodObject;
  readonly headers?: Readonly<Record<string, z.ZodType>>;
  /** One of these bodies. */
  readonly request?: { readonly schemas: Readonly<Record<string, z.ZodType>>; readonly examples: Examples };
  readonly response: {
    readonly status: 200 | 201;
    /** Of its schema, among the components. */
    readonly name: string;
    readonly schema: z.ZodType;
    /** Beside the usual ones. */
    readonly headers?: readonly ResponseHeader[];
    readonly examples: Examples;
  };
  /** Beside those of `ERRORS_OF_EVERY_OPERATION`. */
  readonly errors: readonly ApiErrorCode[];
}

/** In the order in which they are judged; `server_error` can happen anywhere. */
export const ERRORS_OF_EVERY_OPERATION = [
  'invalid_api_key',
  'api_key_ip_not_allowed',
  'merchant_not_approved',
  'rate_limited',
  'server_error',
] as const satisfies readonly ApiErrorCode[];

const CANCEL = {
  operationId: 'cancelPayment',
  summary: 'Cancel a transaction',
  description: `Cancels a \`pending\` transaction: it becomes \`cancelled\` once the provider confirms it, and
\`payment.cancelled\` is sent. Cancels a refund too: one that is \`refund_processing\` can be taken back for a while (a
minute, unless the operator of this service says otherwise), before it goes to the provider; the transaction is \`paid\`
again, and \`payment.paid\` is sent once more. After that the refund is with the provider, and nothing takes it back.

Everything else is \`payment_cancel_failed\`, and so are transactions of \`shopeepay\`, which cannot cancel. The provider
decides: a customer who was faster has paid. A body is not needed and not read.`,
  response: {
    status: 200,
    name: 'CancelAnswer',
    schema: z.object({ payment: cancelledPaymentSchema }),
    examples: {
      'a pending transaction': { payment: examples.CANCELLED_PAYMENT },
      'a refund': { payment: examples.CANCELLED_REFUND },
    },
  },
  errors: ['not_found', 'payment_cancel_failed'],
} as const satisfies Operation;

/** Every route for merchants, by method and path as in `routes.ts`. A test holds the two against each other. */
export const OPERATIONS: Readonly<Record<string, Operation>> = {
  'POST /payments': {
    operationId: 'createPayment',
    summary: 'Create one transaction, or up to 50',
    description: `Answers when the QR is there, usually within a fraction of a second.

**Retries.** With an idempotency key (\`Idempotency-Key\`, or \`idempotency_key\` of an item) the same request can be
repeated for ever and gets the first answer again, byte for byte, with the header \`Idempotency-Replayed: true\`. The same
key with another payment is \`payment_create_failed\`. After a time-out or a 500 repeat the request with its key.

**Bulk.** Give \`payments\`; where \`amount\` is given too, \`payments\` counts. \`provider\`, \`currency\` and
\`payment_method\` beside it apply to every item; an item may override the last two. A fault in any item refuses the whole
request, and nothing is created. The answer keeps the order; an item that the provider refused is \`failed\` and has an
\`error\`, one that is still unclear is \`created\`. The QR of an item is at \`GET /payments/:id/qris\`.

Fields that are not listed are ignored. A body has at most 64 kB, a bulk 512 kB.`,
    headers: {
      'Idempotency-Key': z
        .string()
        .min(1)
        .max(255)
        .optional()
        .meta({ description: 'Names this request, in printable ASCII; in a bulk, items without a key of their own.' }),
    },
    request: {
      schemas: CREATE_BODIES,
      examples: {
        'one transaction': {
          amount: 50_000,
          merchant_reference_id: 'ORDER-1042',
          customer: { name: 'Siti Rahma', email: 'siti@example.com' },
          metadata: { table: 4 },
        },
        'a bulk': {
          payments: [
            { amount: 50_000, merchant_reference_id: 'ORDER-1042', idempotency_key: 'order-1042' },
            { amount: 75_000, merchant_reference_id: 'ORDER-1043', idempotency_key: 'order-1043' },
          ],
        },
      },
    },
    response: {
      status: 201,
      name: 'CreateAnswer',
      schema: z.union([
        z.object({ payment: createdPaymentSchema }).meta({ title: 'One transaction' }),
        z.object({ payments: z.array(bulkItemSchema) }).meta({ title: 'A bulk' }),
      ]),
      headers: ['Idempotency-Replayed'],
      examples: {
        'one transaction': { payment: examples.CREATED_PAYMENT },
        'a bulk': { payments: examples.BULK_ITEMS },
      },
    },
    errors: [
      'invalid_json',
      'invalid_amount',
      'invalid_bulk_size',
      'unsupported_payment_method',
      'payment_create_failed',
    ],
  },
  'GET /payments/:id': {
    operationId: 'getPayment',
    summary: 'Read a transaction',
    description: 'For when a webhook did not come: ask with delays between the requests.',
    response: {
      status: 200,
      name: 'DetailAnswer',
      schema: z.object({ payment: paymentDetailSchema }),
      examples: { 'a paid transaction': { payment: examples.PAYMENT_DETAIL } },
    },
    errors: ['not_found'],
  },
  'GET /payments/:id/qris': {
    operationId: 'getQris',
    summary: 'Read the QR of a transaction',
    description: `The QR of a bulk item, or of any transaction later on. \`not_found\` too where there is no QR: before the
provider has issued it, and where the provider refused to.`,
    response: {
      status: 200,
      name: 'QrisAnswer',
      schema: z.object({ qris: qrisSchema }),
      examples: { 'a QR': { qris: examples.QRIS } },
    },
    errors: ['not_found'],
  },
  'POST /payments/:id/cancel': CANCEL,
  'POST /transactions/:id/cancel': {
    ...CANCEL,
    operationId: 'cancelTransaction',
    summary: 'The same as POST /payments/:id/cancel',
  },
  'POST /payments/:id/refund': {
    operationId: 'refundPayment',
    summary: 'Refund a transaction',
    description: `Has the customer of a \`paid\` transaction refunded, \`total_amount\` in full; the fee stays owed. It becomes
\`refund_processing\`, where it can be cancelled for a while, and then \`refunded\` once the bank has confirmed it, or
\`refund_failed\` where the provider refused it: each is an event.

Everything else is \`payment_refund_failed\`: a transaction that has entered settlement (\`settled\`), and those of
\`shopeepay\`, which has no refund. A body is not needed and not read.`,
    response: {
      status: 200,
      name: 'RefundAnswer',
      schema: z.object({ payment: refundedPaymentSchema }),
      examples: { 'a paid transaction': { payment: examples.REFUNDED_PAYMENT } },
    },
    errors: ['not_found', 'payment_refund_failed'],
  },
  'GET /transactions': {
    operationId: 'listTransactions',
    summary: 'List transactions',
    description: `Newest first. While there are more, the header \`Link: <…>; rel="next"\` has the address of the next page,
with the same filters; ask it as it stands. No transaction comes twice or is left out because others are created
meanwhile.

Filters can be combined. A filter or cursor that cannot be understood is \`not_found\` and names its rule, so that no list
is mistaken for a filtered one.`,
    query: listQuerySchema,
    response: {
      status: 200,
      name: 'ListAnswer',
      schema: z.object({ transactions: z.array(listedPaymentSchema) }),
      headers: ['Link'],
      examples: { 'a page': { transactions: [examples.LISTED_PAYMENT] } },
    },
    errors: ['not_found'],
  },
};
