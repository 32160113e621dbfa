import { z } from 'zod';
import { merchantEndpoint } from '../endpoint';
import { EXAMPLE_SUMMARY } from './example-payment';
import { paymentAction } from './payment-action';
import { summaryFields, summaryFieldsOf } from './payment-fields';

const refundedPaymentSchema = z.object(summaryFields);

export const refundPayment = merchantEndpoint({
  method: 'post',
  path: '/payments/:id/refund',
  operationId: 'refundPayment',
  summary: 'Refund a transaction',
  description: `Has the customer of a \`paid\` transaction refunded, \`total_amount\` in full; the fee stays owed. It becomes
\`refund_processing\`, where it can be cancelled for a while, and then \`refunded\` once the bank has confirmed it, or
\`refund_failed\` where the provider refused it: each is an event.

Everything else is \`payment_refund_failed\`: a transaction that has entered settlement (\`settled\`), and those of
\`shopeepay\`, which has no refund. A body is not needed and not read.`,
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
    send: (workflows, paymentId) => workflows.refundPayment(paymentId),
    toResponse: summaryFieldsOf,
  }),
});
