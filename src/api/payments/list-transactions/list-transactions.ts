import { z } from 'zod';
import { encodeCursor } from '../../../db/payments/cursor';
import { listMerchantPayments } from '../../../db/payments/list-payments';
import type { PaymentWithParts } from '../../../db/payments/payment-parts';
import type { PaymentRow } from '../../../db/payments/payment-row';
import { reportIgnored } from '../../../http/ignored-input';
import { expand } from '../../../services/payments/expand';
import type { ApiDependencies } from '../../dependencies';
import { merchantEndpoint } from '../../endpoint';
import { readQuery } from '../../read-query';
import { EXAMPLE_SUMMARY, EXAMPLE_TIMES } from '../example-payment';
import { expandedFields, partsOf, readExpand, withMembers, type ExpandDependencies } from '../expand';
import { summaryFields, summaryFieldsOf, timestampFields, timestampFieldsOf } from '../payment-fields';
import { isNumber, listQuerySchema } from './list-query';

const listedPaymentSchema = z.object({ ...summaryFields, ...timestampFields, ...expandedFields });

const toListedPayment = (payment: PaymentRow) => ({ ...summaryFieldsOf(payment), ...timestampFieldsOf(payment) });

/** Newest first; the next page is in a `Link` header, since docs/contract.md#list fixes the body. */
export const listTransactions = merchantEndpoint({
  method: 'get',
  path: '/transactions',
  scope: 'read',
  operationId: 'listTransactions',
  summary: 'List transactions',
  description: `Newest first. If there are more, the header \`Link: <…>; rel="next"\` has the address of the next page,
with the same filters. Request it unchanged. No transaction appears twice or is missing because others are created
meanwhile.

Filters can be combined. The response to an invalid filter or cursor is \`invalid_parameter\` and names the rule, so
that no unfiltered list is taken for a filtered one. An unknown parameter is ignored, and \`X-Ignored-Parameters\`
names it.`,
  query: listQuerySchema,
  response: {
    status: 200,
    name: 'ListTransactionsResponse',
    schema: z.object({ transactions: z.array(listedPaymentSchema) }),
    components: { ListedPayment: listedPaymentSchema },
    headers: ['Link'],
    examples: { 'a page': { transactions: [{ ...EXAMPLE_SUMMARY, status: 'paid', ...EXAMPLE_TIMES }] } },
  },
  errors: ['invalid_parameter'],
  async handler(dependencies: ExpandDependencies & Pick<ApiDependencies, 'publicBaseUrl'>, request, merchant) {
    const { db, publicBaseUrl } = dependencies;
    const { merchantId } = merchant;
    const { limit, ...wanted } = readQuery(request, listQuerySchema);
    if (request.query.limit !== undefined && !isNumber(request.query.limit)) {
      reportIgnored(request, 'parameters', ['limit']);
    }
    const expansions = readExpand(request, merchant);
    const filter = {
      merchantId,
      status: wanted.status,
      provider: wanted.provider,
      merchantReferenceId: wanted.merchant_reference_id,
      createdFrom: wanted.created_from,
      createdTo: wanted.created_to,
      after: wanted.cursor,
    };
    // One more than the page holds: if it exists, there is a next page.
    const found = await listMerchantPayments(db, filter, limit + 1, partsOf(expansions));
    const page = found.slice(0, limit);
    const last = page.at(-1);
    const toListed = async (payment: PaymentWithParts) =>
      withMembers(toListedPayment(payment), await expand(dependencies, payment, expansions));
    const hasNext = last !== undefined && found.length > page.length;
    return {
      status: 200,
      ...(hasNext && { headers: { Link: linkToNext(publicBaseUrl, request.originalUrl, encodeCursor(last)) } }),
      body: { transactions: await Promise.all(page.map(toListed)) },
    };
  },
});

/** The address of the request with another cursor (RFC 8288). */
function linkToNext(publicBaseUrl: string, originalUrl: string, cursor: string): string {
  const query = new URLSearchParams(originalUrl.replace(/^[^?]*/, ''));
  query.set('cursor', cursor);
  return `<${publicBaseUrl}/transactions?${query.toString()}>; rel="next"`;
}
