import type { Request } from 'express';
import { z } from 'zod';
import { ApiError } from '../../../http/api-error';
import { reportIgnored } from '../../../http/ignored-input';
import { countItems } from '../../../http/rate-limit/count-request';
import { jsonOf } from '../../../http/request-body';
import { readJsonBody } from '../../../http/strict-json';
import { draftPayment } from '../../../services/payments/create/payment-draft';
import type { ApiDependencies } from '../../dependencies';
import { merchantEndpoint } from '../../endpoint';
import { EXAMPLE_AMOUNTS, EXAMPLE_IDENTITY, EXAMPLE_PAYMENT, EXAMPLE_QRIS, EXAMPLE_TIMES } from '../example-payment';
import { expandAll, expandQuerySchema, readExpand, withMembers, type ExpandDependencies } from '../expand';
import { bulkItemSchema, createBulk, parseItems } from './create-bulk';
import { createdPaymentSchema, createSingle, type SingleDependencies } from './create-single';
import { ignoredFieldsOf } from './ignored-fields';
import {
  bulkRequestSchema,
  parseIdempotencyKey,
  parseRequest,
  paymentRequestSchema,
  requireObject,
  toNewPayment,
} from './payment-request';

const SINGLE_BODY_BYTES = 64 * 1_024;

type PostDependencies = SingleDependencies & ExpandDependencies & Pick<ApiDependencies, 'rateLimit'>;

export const createPayment = merchantEndpoint({
  method: 'post',
  path: '/payments',
  scope: 'create',
  readsBody: true,
  operationId: 'createPayment',
  summary: 'Create one transaction, or up to 50',
  description: `The response is sent when the provider has issued the QR, usually after a fraction of a second.

**Checkout page.** The header \`Link: <…>; rel="payment"\` of one transaction is the address of a page that shows the QR
and the status. \`GET /payments/:id/qris\` has it too, as \`checkout_url\`.

**Retries.** With an idempotency key (\`Idempotency-Key\`, or \`idempotency_key\` of an item) the same request can be
repeated at any time. It gets the original response, byte for byte, with the header \`Idempotency-Replayed: true\`; for
one transaction \`X-Payment-Status\` has its current status. If it is \`expired\`, \`cancelled\` or \`failed\`, create a
new transaction with a new key: use one key for each attempt of a customer to pay, such as \`ORDER-1042-2\`. The same
key with another payment is \`payment_create_failed\`. After a timeout or a 500 repeat the request with its key.

**Bulk.** Give \`payments\`; if \`amount\` is given too, \`payments\` takes precedence. \`provider\`, \`currency\` and
\`payment_method\` beside it apply to every item; an item may override the last two. An error in any item rejects the
whole request, and nothing is created. The response keeps the order. An item that the provider rejected is \`failed\`
and has an \`error\`; an item without a result yet is \`created\`. The QR of an item is at \`GET /payments/:id/qris\`.
Each item counts as one request for the rate limit, and a bulk at most as the whole limit.

Fields that are not listed are ignored, and \`X-Ignored-Fields\` names them. A body has at most 64 kB, a bulk 512 kB.`,
  query: expandQuerySchema,
  headers: {
    'Idempotency-Key': z.string().min(1).max(255).optional().meta({
      description: 'Identifies this request, in printable ASCII; in a bulk, the items without a key of their own.',
    }),
  },
  requestBody: {
    schemas: {
      PaymentRequest: paymentRequestSchema.meta({ title: 'One transaction' }),
      BulkRequest: bulkRequestSchema.meta({ title: 'A bulk' }),
    },
    examples: {
      'one transaction': {
        amount: 50_000,
        merchant_reference_id: 'ORDER-1042',
        customer: { name: 'Siti Rahma', email: 'siti@example.com' },
        metadata: { table: 4 },
      },
      'a bulk': {
        payments: [
          { amount: 50_000, merchant_reference_id: 'ORDER-1042', idempotency_key: 'ORDER-1042-1' },
          // The sandbox rejects an order over this total.
          { amount: 1_000_402, merchant_reference_id: 'ORDER-1043', idempotency_key: 'ORDER-1043-1' },
        ],
      },
    },
  },
  response: {
    status: 201,
    name: 'CreatePaymentResponse',
    schema: z.union([
      z.object({ payment: createdPaymentSchema }).meta({ title: 'One transaction' }),
      z.object({ payments: z.array(bulkItemSchema) }).meta({ title: 'A bulk' }),
    ]),
    components: { CreatedPayment: createdPaymentSchema, BulkItem: bulkItemSchema },
    headers: ['Idempotency-Replayed', 'X-Payment-Status', 'Link'],
    examples: {
      'one transaction': {
        payment: {
          ...EXAMPLE_PAYMENT,
          status: 'pending',
          qris_payload: EXAMPLE_QRIS.payload,
          qris_image_url: EXAMPLE_QRIS.image_url,
          expires_at: EXAMPLE_QRIS.expires_at,
          created_at: EXAMPLE_TIMES.created_at,
          updated_at: '2026-11-21T08:00:00.410Z',
        },
      },
      'a bulk': {
        payments: [
          {
            ...EXAMPLE_IDENTITY,
            payment_method_code: 'qris',
            ...EXAMPLE_AMOUNTS,
            status: 'pending',
            expires_at: EXAMPLE_QRIS.expires_at,
          },
          {
            id: '01935b6c-7c05-7d11-8e02-6b1c9f0a4d35',
            reference_id: 'LN3F8W1Z6HJ4NC2EGP',
            merchant_reference_id: 'ORDER-1043',
            payment_method_code: 'qris',
            amount: 1_000_402,
            fee_amount: 7_003,
            net_amount: 993_399,
            total_amount: 1_000_402,
            status: 'failed',
            expires_at: EXAMPLE_QRIS.expires_at,
            error: {
              code: 'payment_create_failed',
              message: 'The transaction could not be created: the provider rejected it.',
            },
          },
        ],
      },
    },
  },
  adviceAfterFailure,
  errors: [
    'invalid_json',
    'invalid_parameter',
    'invalid_amount',
    'invalid_bulk_size',
    'unsupported_payment_method',
    'payment_create_failed',
  ],
  /** One key and payment get one response, for repeated and for concurrent requests. */
  async handler(dependencies: PostDependencies, request, merchant) {
    const wanted = readExpand(request, merchant);
    const body = requireObject(readJsonBody(request));
    reportIgnored(request, 'fields', ignoredFieldsOf(body));
    const idempotencyKey = parseIdempotencyKey(request.headersDistinct['idempotency-key']);
    if (body.payments !== undefined) {
      const items = parseItems(body);
      await countItems(dependencies.rateLimit, request, merchant, items.length);
      const created = await createBulk(dependencies, merchant, items, idempotencyKey);
      const { payments } = created.body;
      const ids = payments.map(({ id }) => id);
      const expanded = await expandAll(dependencies, merchant.merchantId, ids, wanted);
      return {
        ...created,
        body: { payments: payments.map((item) => withMembers(item, expanded.get(item.id))) },
      };
    }
    if (request.body.length > SINGLE_BODY_BYTES) throw new ApiError('body_too_large', 'The body is larger than 64 kB.');
    const wantedPayment = toNewPayment(parseRequest(paymentRequestSchema, body));
    const draft = draftPayment(dependencies, merchant, wantedPayment, idempotencyKey);
    const created = await createSingle(dependencies, merchant, draft);
    const { payment } = created.body;
    const expanded = await expandAll(dependencies, merchant.merchantId, [payment.id], wanted);
    return { ...created, body: { payment: withMembers(payment, expanded.get(payment.id)) } };
  },
});

const keyedItemsSchema = z.object({ payments: z.array(z.object({ idempotency_key: z.string() })).min(1) });

/** Whether a repeat of the request is safe. */
function adviceAfterFailure(request: Request): string {
  if (request.get('idempotency-key') !== undefined) {
    return 'The transaction may have been created: repeat the request with the same Idempotency-Key.';
  }
  if (keyedItemsSchema.safeParse(jsonOf(request)).success) {
    return 'The transactions may have been created: repeat the request with the same idempotency_key of each item.';
  }
  const risk =
    'The transaction may have been created. The request had no Idempotency-Key, and a repeat creates another';
  return `${risk}: look for it in GET /transactions first.`;
}
