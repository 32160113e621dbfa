import { z } from 'zod';
import { merchantEndpoint } from '../endpoint';
import { EXAMPLE_SUMMARY } from './example-payment';
import { paymentAction } from './payment-action';
import { summaryFields, summaryFieldsOf } from './payment-fields';

const refundedPaymentSchema = z.object(summaryFields);

export const refundPayment = merchantEndpoint({
  method: 'post',
  path: '/payments/:id/refund',
  scope: 'refund',
  operationId: 'refundPayment',
  summary: 'Refund a transaction',
  description: `Refunds the customer of a \`paid\` transaction, \`total_amount\` in full; the fee stays due. The
transaction becomes \`refund_processing\` and can be cancelled for a while. Then it becomes \`refunded\` once the bank
has confirmed the refund, or \`refund_failed\` if the provider rejected it. Each change sends an event.

In all other cases the response is \`payment_refund_failed\`: for a transaction in settlement (\`settled\`), and for
transactions of \`shopeepay\`, which has no refund. A body is not needed and not read.`,
  response: {
    status: 200,
    name: 'RefundPaymentResponse',
    schema: z.object({ payment: refundedPaymentSchema }),
    components: {},
    examples: { 'a paid transaction': { payment: { ...EXAMPLE_SUMMARY, status: 'refund_processing' } } },
  },
  errors: ['not_found', 'payment_refund_failed'],
  handler: paymentAction({
    action: 'refund',
    code: 'payment_refund_failed',
    toResponse: summaryFieldsOf,
  }),
});
