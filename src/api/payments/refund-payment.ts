import type { Request } from 'express';
import { z } from 'zod';
import type { PaymentRow } from '../../db/payments/payment-row';
import { formatRupiah } from '../../domain/money';
import { ApiError } from '../../http/api-error';
import { merchantEndpoint } from '../endpoint';
import { EXAMPLE_SUMMARY } from './example-payment';
import { expandedFields, expandQuerySchema } from './expand';
import { paymentAction } from './payment-action';
import { summaryFields, summaryFieldsOf } from './payment-fields';

const refundedPaymentSchema = z.object({ ...summaryFields, ...expandedFields });

export const refundByMerchant = merchantEndpoint({
  method: 'post',
  path: '/payments/:id/refund',
  readsBody: true,
  maxBytes: 16 * 1_024,
  scope: 'refund',
  operationId: 'refundPayment',
  summary: 'Refund a transaction',
  description: `Refunds the customer of a \`paid\` transaction, \`total_amount\` in full; the fee stays due. The
transaction becomes \`refund_processing\` and can be cancelled for a while. Then it becomes \`refunded\` once the bank
has confirmed the refund, or \`refund_failed\` if the provider rejected it. Each change sends an event.

In all other cases the response is \`payment_refund_failed\`: for a \`settled\` transaction, and for transactions of
\`shopeepay\`, which has no refund. There is no partial refund: send no body, or \`{}\`. Any other body is rejected
with the same code, and nothing is refunded.`,
  query: expandQuerySchema,
  response: {
    status: 200,
    name: 'RefundPaymentResponse',
    schema: z.object({ payment: refundedPaymentSchema }),
    components: {},
    examples: { 'a refund in progress': { payment: { ...EXAMPLE_SUMMARY, status: 'refund_processing' } } },
  },
  errors: ['invalid_json', 'invalid_parameter', 'not_found', 'payment_refund_failed'],
  handler: paymentAction({
    action: 'refund',
    statusReason: 'status_not_refundable',
    checkBody: assertWholeAmount,
    toResponse: summaryFieldsOf,
  }),
});

/** Some clients send one of these if their caller gives no body. */
const EMPTY_BODY = /^(\{\s*\}|\[\s*\]|null)?$/;

/** Who sends an amount, in JSON or not, expects a partial refund. */
function assertWholeAmount({ body }: Request, { totalRupiah }: PaymentRow): void {
  if (EMPTY_BODY.test(String(body).trim())) return;
  const message = `A refund is always for the whole amount, ${formatRupiah(totalRupiah)}. Send no body.`;
  throw new ApiError('refund_not_whole', message);
}
