import { z } from 'zod';
import type { PaymentRow } from '../../db/payments/payment-row';
import type { ApiDependencies } from '../dependencies';
import { merchantEndpoint } from '../endpoint';
import { EXAMPLE_PAYMENT, EXAMPLE_TIMES } from './example-payment';
import {
  expandAll,
  expandedFields,
  expandQuerySchema,
  readExpand,
  withMembers,
  type ExpandDependencies,
} from './expand';
import { paymentFields, paymentFieldsOf, timestampFields, timestampFieldsOf } from './payment-fields';
import { requirePayment } from './require-payment';

export const paymentDetailSchema = z.object({ ...paymentFields, ...timestampFields, ...expandedFields });

const toPaymentDetail = (payment: PaymentRow) => ({ ...paymentFieldsOf(payment), ...timestampFieldsOf(payment) });

export const getPayment = merchantEndpoint({
  method: 'get',
  path: '/payments/:id',
  scope: 'read',
  operationId: 'getPayment',
  summary: 'Read a transaction',
  description: 'Polling is for a missing webhook, with delays between the requests.',
  query: expandQuerySchema,
  response: {
    status: 200,
    name: 'GetPaymentResponse',
    schema: z.object({ payment: paymentDetailSchema }),
    components: { PaymentDetail: paymentDetailSchema },
    examples: { 'a paid transaction': { payment: { ...EXAMPLE_PAYMENT, status: 'paid', ...EXAMPLE_TIMES } } },
  },
  errors: ['invalid_parameter', 'not_found'],
  async handler(dependencies: ExpandDependencies & Pick<ApiDependencies, 'lostWorkflows'>, request, merchant) {
    const { db, lostWorkflows } = dependencies;
    const { merchantId } = merchant;
    const wanted = readExpand(request, merchant);
    const payment = await requirePayment(db, merchantId, String(request.params.id));
    lostWorkflows.checkExpired(payment);
    const expanded = await expandAll(dependencies, merchantId, [payment.id], wanted);
    return { status: 200, body: { payment: withMembers(toPaymentDetail(payment), expanded.get(payment.id)) } };
  },
});
