import { z } from 'zod';
import { listLinks } from '../../db/links/list-links';
import { LINK_STATUSES } from '../../domain/payment-link';
import type { ApiDependencies } from '../dependencies';
import { merchantEndpoint } from '../endpoint';
import { pageOf } from '../next-page';
import { listQuerySchema, reportIgnoredLimit } from '../payments/list-transactions/list-query';
import { readQuery } from '../read-query';
import { EXAMPLE_LINK, paymentLinkSchema, toLinkBody } from './link-fields';

const querySchema = z.object({
  ...listQuerySchema.pick({ limit: true, cursor: true }).shape,
  status: z
    .enum(LINK_STATUSES, { error: `must be one of ${LINK_STATUSES.join(', ')}` })
    .optional()
    .meta({ description: 'Only links with this status.' }),
});

export const listPaymentLinks = merchantEndpoint({
  method: 'get',
  path: '/payment-links',
  scope: 'read',
  operationId: 'listPaymentLinks',
  summary: 'List payment links',
  description: 'Newest first. If there are more, the header `Link: <…>; rel="next"` has the address of the next page.',
  query: querySchema,
  response: {
    status: 200,
    name: 'ListPaymentLinksResponse',
    schema: z.object({ payment_links: z.array(paymentLinkSchema) }),
    components: { PaymentLink: paymentLinkSchema },
    headers: ['Link'],
    examples: { 'a page': { payment_links: [EXAMPLE_LINK] } },
  },
  errors: ['invalid_parameter'],
  async handler(
    dependencies: Pick<ApiDependencies, 'db' | 'linkAddresses' | 'publicBaseUrl'>,
    request,
    { merchantId },
  ) {
    const { limit, cursor: after, status } = readQuery(request, querySchema);
    reportIgnoredLimit(request);
    const at = new Date();
    const found = await listLinks(dependencies.db, { merchantId, status, after, at }, limit + 1);
    const { rows, headers } = pageOf(found, { ...dependencies, limit, request });
    return {
      status: 200,
      headers,
      body: { payment_links: await Promise.all(rows.map((link) => toLinkBody(dependencies, link, at))) },
    };
  },
});
