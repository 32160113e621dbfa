import { z } from 'zod';
import type { PublicAddresses } from '../../crypto/public-links';
import { ApiError } from '../../http/api-error';
import { MAX_PAYLOAD_LENGTH } from '../../qris/payload';
import { toQris } from '../../services/payments/expand';
import type { ApiDependencies } from '../dependencies';
import { merchantEndpoint } from '../endpoint';
import { EXAMPLE_QRIS } from './example-payment';
import { PAYMENT_FIELDS } from './payment-fields';
import { requirePayment } from './require-payment';

export const qrisSchema = z.object({
  payload: z
    .string()
    .max(MAX_PAYLOAD_LENGTH)
    .meta({ description: 'The QRIS payload (EMVCo), to draw the QR yourself.' }),
  image_url: z.url().meta({ description: 'The QR as a PNG image, public and cacheable; `.svg` is available too.' }),
  checkout_url: z.url().meta({
    description: 'The page where the customer scans or saves the QR and sees the status. Redirect the customer to it.',
  }),
  expires_at: PAYMENT_FIELDS.expires_at,
});

export const getQris = merchantEndpoint({
  method: 'get',
  path: '/payments/:id/qris',
  scope: 'read',
  operationId: 'getQris',
  summary: 'Read the QR of a transaction',
  description: `The QR of a bulk item, or of any transaction later on. Without a QR the response is \`not_found\`:
before the provider has issued it, and if the provider rejected the transaction.

The QR stays readable after the transaction has ended. Show it only while \`status\` is \`pending\`: money that arrives
after the end is a late payment, which does not make the transaction \`paid\`.`,
  response: {
    status: 200,
    name: 'GetQrisResponse',
    schema: z.object({ qris: qrisSchema }),
    components: { Qris: qrisSchema },
    examples: { 'a QR': { qris: EXAMPLE_QRIS } },
  },
  errors: ['not_found'],
  async handler(dependencies: PublicAddresses & Pick<ApiDependencies, 'db'>, { params }, { merchantId }) {
    const payment = await requirePayment(dependencies.db, merchantId, String(params.id));
    const qris = await toQris(payment, dependencies);
    if (!qris) throw new ApiError('qr_unavailable', `This transaction is ${payment.status} and has no QR code.`);
    return { status: 200, body: { qris } };
  },
});
