import { z } from 'zod';
import { actorText } from '../../domain/actor';
import { closePaymentLink as close } from '../../services/links/close-link';
import type { ApiDependencies } from '../dependencies';
import { merchantEndpoint } from '../endpoint';
import { EXAMPLE_LINK, paymentLinkSchema, toLinkBody } from './link-fields';
import { requireOwnLink } from './require-link';

export const closePaymentLink = merchantEndpoint({
  method: 'post',
  path: '/payment-links/:id/close',
  scope: 'create',
  operationId: 'closePaymentLink',
  summary: 'Close a payment link',
  description: `Ends a link for good. No visitor can start a transaction by it any more; one that is open can still be
paid. A second close has the same response.`,
  response: {
    status: 200,
    name: 'ClosePaymentLinkResponse',
    schema: z.object({ payment_link: paymentLinkSchema }),
    components: { PaymentLink: paymentLinkSchema },
    examples: {
      'a closed link': {
        payment_link: { ...EXAMPLE_LINK, status: 'closed', closed_at: '2026-11-22T08:00:00.000Z' },
      },
    },
  },
  errors: ['not_found'],
  async handler(dependencies: Pick<ApiDependencies, 'db' | 'linkAddresses'>, request, { merchantId, keyId }) {
    const { db } = dependencies;
    const found = await requireOwnLink(db, merchantId, String(request.params.id));
    const at = new Date();
    const link = await close(db, found, { at, by: actorText({ kind: 'api_key', id: keyId }) });
    return { status: 200, body: { payment_link: await toLinkBody(dependencies, link, at) } };
  },
});
