import { z } from 'zod';
import type { Queryable } from '../../../db/connection/pool';
import { listMerchantPayments, type MerchantPaymentFilter } from '../../../db/payments/list-payments';
import { findPaymentsWithParts, type PaymentPart, type PaymentWithParts } from '../../../db/payments/payment-parts';
import type { PaymentRow } from '../../../db/payments/payment-row';
import { ApiError } from '../../../http/api-error';
import { parseLinkId } from '../../../services/links/path-id';
import { expand } from '../../../services/payments/expand';
import { searchPayments } from '../../../services/payments/search-payments';
import type { ApiDependencies } from '../../dependencies';
import { merchantEndpoint } from '../../endpoint';
import { pageOf } from '../../next-page';
import { readQuery } from '../../read-query';
import { EXAMPLE_SUMMARY, EXAMPLE_TIMES } from '../example-payment';
import { expandedFields, partsOf, readExpand, withMembers, type ExpandDependencies } from '../expand';
import { summaryFields, summaryFieldsOf, timestampFields, timestampFieldsOf } from '../payment-fields';
import { filterBesideSearch, listQuerySchema, reportIgnoredLimit, type ListQuery } from './list-query';

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

Filters can be combined, except \`search\`. The response to an invalid filter or cursor is \`invalid_parameter\` and
names the rule, so that no unfiltered list is taken for a filtered one. An unknown parameter is ignored, and
\`X-Ignored-Parameters\` names it.`,
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
    const query = readQuery(request, listQuerySchema);
    const { limit } = query;
    const other = filterBesideSearch(query);
    if (other) throw new ApiError('invalid_parameter', `search cannot be combined with ${other}.`);
    reportIgnoredLimit(request);
    const expansions = readExpand(request, merchant);
    // One more than the page holds: if it exists, there is a next page.
    const found =
      query.search === undefined
        ? await listMerchantPayments(db, filterOf(merchantId, query), limit + 1, partsOf(expansions))
        : await search(db, { merchantId, text: query.search, limit }, partsOf(expansions));
    const page = pageOf(found, { limit, publicBaseUrl, request });
    const toListed = async (payment: PaymentWithParts) =>
      withMembers(toListedPayment(payment), await expand(dependencies, payment, expansions));
    return {
      status: 200,
      headers: page.headers,
      body: { transactions: await Promise.all(page.rows.map(toListed)) },
    };
  },
});

function filterOf(merchantId: string, query: ListQuery): MerchantPaymentFilter {
  return {
    merchantId,
    status: query.status,
    provider: query.provider,
    merchantReferenceId: query.merchant_reference_id,
    createdFrom: query.created_from,
    createdTo: query.created_to,
    link: query.payment_link === undefined ? undefined : parseLinkId(query.payment_link),
    after: query.cursor,
  };
}

interface Search {
  readonly merchantId: string;
  readonly text: string;
  readonly limit: number;
}

async function search(
  db: Queryable,
  { limit, ...searched }: Search,
  parts: readonly PaymentPart[],
): Promise<readonly PaymentWithParts[]> {
  const { payments } = await searchPayments(db, searched, limit);
  if (parts.length === 0) return payments;
  const paymentIds = payments.map(({ id }) => id);
  const complete = await findPaymentsWithParts(db, searched.merchantId, { paymentIds, parts });
  const byId = new Map(complete.map((payment) => [payment.id, payment]));
  return payments.map((payment) => byId.get(payment.id) ?? payment);
}
