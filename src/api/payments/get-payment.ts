import { z } from 'zod';
import type { PaymentRow } from '../../db/queries/payment-row';
import type { ApiDependencies } from '../dependencies';
import { merchantEndpoint } from '../endpoint';
import { EXAMPLE_PAYMENT, EXAMPLE_TIMES } from './example-payment';
import { PAYMENT_FIELDS, paymentFields, paymentFieldsOf, timestampFieldsOf } from './payment-fields';
import { requirePayment } from './require-payment';

const { paid_at, created_at, updated_at } = PAYMENT_FIELDS;

export const paymentDetailSchema = z.object({ ...paymentFields, paid_at, created_at, updated_at });

const toPaymentDetail = (payment: PaymentRow) => ({ ...paymentFieldsOf(payment), ...timestampFieldsOf(payment) });

export const getPayment = merchantEndpoint({
  method: 'get',
  path: '/payments/:id',
  scope: 'read',
  operationId: 'getPayment',
  summary: 'Read a transaction',
  description: 'For a missing webhook: poll with delays between the requests.',
  response: {
    status: 200,
    name: 'GetPaymentResponse',
    schema: z.object({ payment: paymentDetailSchema }),
    components: { PaymentDetail: paymentDetailSchema },
    examples: { 'a paid transaction': { payment: { ...EXAMPLE_PAYMENT, status: 'paid', ...EXAMPLE_TIMES } } },
  },
  errors: ['not_found'],
  async handler({ db, lostWorkflows }: Pick<ApiDependencies, 'db' | 'lostWorkflows'>, { params }, { merchantId }) {
    const payment = await requirePayment(db, merchantId, String(params.id));
    lostWorkflows.checkExpired(payment);
    return { status: 200, body: { payment: toPaymentDetail(payment) } };
  },
});
