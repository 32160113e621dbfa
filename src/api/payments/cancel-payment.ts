import type { Request } from 'express';
import { z } from 'zod';
import { reportIgnored } from '../../http/ignored-input';
import { jsonOf } from '../../http/request-body';
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

export const cancelByMerchant = merchantEndpoint({
  method: 'post',
  path: '/payments/:id/cancel',
  readsBody: 'optional',
  scope: 'cancel',
  operationId: 'cancelPayment',
  summary: 'Cancel a transaction',
  description: `Cancels a \`pending\` transaction: it becomes \`cancelled\` once the provider confirms it, and
\`payment.cancelled\` is sent. Cancels a refund too. A refund is held for a while before it is sent to the provider (a
minute, unless the operator configures otherwise), and can be cancelled during this time. The transaction is then
\`paid\` again, and \`payment.paid\` is sent once more. After that the refund cannot be cancelled.

In all other cases the response is \`payment_cancel_failed\`, also for transactions of \`shopeepay\`, which does not
support it. The provider decides: if the customer paid first, the transaction is paid. A body is not needed:
its fields are ignored, and \`X-Ignored-Fields\` names them.`,
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
    checkBody: reportBody,
    toResponse: (payment) => ({
      ...summaryFieldsOf(payment),
      cancelled_at: payment.cancelledAt?.toISOString() ?? null,
    }),
  }),
});

/** A body that is no JSON has no names. */
function reportBody(request: Request): void {
  const body = jsonOf(request);
  if (typeof body === 'object' && body !== null) reportIgnored(request, 'fields', Object.keys(body));
}

/** docs/contract.md#payments has both paths. */
export const cancelTransaction = {
  ...cancelByMerchant,
  path: '/transactions/:id/cancel',
  operationId: 'cancelTransaction',
  summary: 'Cancel at /transactions',
};
