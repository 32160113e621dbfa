import { z } from 'zod';
import { merchantEndpoint } from '../endpoint';
import { EXAMPLE_SUMMARY } from './example-payment';
import { expandedFields, expandQuerySchema } from './expand';
import { paymentAction } from './payment-action';
import { summaryFields, summaryFieldsOf } from './payment-fields';

const cancelledPaymentSchema = z.object({
  ...summaryFields,
  cancelled_at: z.iso
    .datetime()
    .meta({ description: 'When it was cancelled; null after a cancelled refund, which leaves it `paid`.' })
    .nullable(),
  ...expandedFields,
});

export const cancelPayment = merchantEndpoint({
  method: 'post',
  path: '/payments/:id/cancel',
  scope: 'cancel',
  operationId: 'cancelPayment',
  summary: 'Cancel a transaction',
  description: `Cancels a \`pending\` transaction: it becomes \`cancelled\` once the provider confirms it, and
\`payment.cancelled\` is sent. Cancels a refund too. A refund is held for a while before it is sent to the provider (a
minute, unless the operator configures otherwise), and can be cancelled during this time. The transaction is then
\`paid\` again, and \`payment.paid\` is sent once more. After that the refund cannot be cancelled.

In all other cases the response is \`payment_cancel_failed\`, also for transactions of \`shopeepay\`, which does not
support it. The provider decides: if the customer paid first, the transaction is paid. A body is not needed and not
read.`,
  query: expandQuerySchema,
  response: {
    status: 200,
    name: 'CancelPaymentResponse',
    schema: z.object({ payment: cancelledPaymentSchema }),
    components: { CancelledPayment: cancelledPaymentSchema },
    examples: {
      'a pending transaction': {
        payment: { ...EXAMPLE_SUMMARY, status: 'cancelled', cancelled_at: '2026-11-21T08:03:12.877Z' },
      },
      'a refund': { payment: { ...EXAMPLE_SUMMARY, status: 'paid', cancelled_at: null } },
    },
  },
  errors: ['invalid_parameter', 'not_found', 'payment_cancel_failed'],
  handler: paymentAction({
    action: 'cancel',
    statusReason: 'status_not_cancellable',
    toResponse: (payment) => ({
      ...summaryFieldsOf(payment),
      cancelled_at: payment.cancelledAt?.toISOString() ?? null,
    }),
  }),
});

/** docs/contract.md#payments has both paths. */
export const cancelTransaction = {
  ...cancelPayment,
  path: '/transactions/:id/cancel',
  operationId: 'cancelTransaction',
  summary: 'The same as POST /payments/:id/cancel',
};
