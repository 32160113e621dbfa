import { z } from 'zod';
import type { ApiDependencies } from '../dependencies';
import { merchantEndpoint } from '../endpoint';
import { EXAMPLE_LINK, paymentLinkSchema, toLinkBody } from './link-fields';
import { requireOwnLink } from './require-link';

export const getPaymentLink = merchantEndpoint({
  method: 'get',
  path: '/payment-links/:id',
  scope: 'read',
  operationId: 'getPaymentLink',
  summary: 'Read a payment link',
  description:
    'The link as it is now. `GET /transactions?payment_link=` lists its transactions. Its status has no event: the ' +
    'webhooks of its transactions report what was paid.',
  response: {
    status: 200,
    name: 'GetPaymentLinkResponse',
    schema: z.object({ payment_link: paymentLinkSchema }),
    components: { PaymentLink: paymentLinkSchema },
    examples: { 'a link': { payment_link: EXAMPLE_LINK } },
  },
  errors: ['not_found'],
  async handler(dependencies: Pick<ApiDependencies, 'db' | 'linkAddresses'>, request, { merchantId }) {
    const link = await requireOwnLink(dependencies.db, merchantId, String(request.params.id));
    return { status: 200, body: { payment_link: await toLinkBody(dependencies, link, new Date()) } };
  },
});
