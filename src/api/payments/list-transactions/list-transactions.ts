import { listMerchantPayments } from '../../../db/queries/list-payments';
import type { MerchantEndpoint } from '../../endpoint';
import { listedPaymentView } from '../payment-responses';
import { encodeCursor } from './cursor';
import { parseListQuery } from './list-query';

/** `GET /transactions`, newest first; the next page is in a `Link` header, so that the body stays the contract's. */
export const listTransactions: MerchantEndpoint = async ({ db, publicBaseUrl }, request, { merchantId }) => {
  const query = parseListQuery(request.query);
  const filter = {
    merchantId,
    status: query.status,
    provider: query.provider,
    merchantReferenceId: query.merchant_reference_id,
    createdFrom: query.created_from,
    createdTo: query.created_to,
    after: query.cursor,
  };
  // One more than asked for tells whether there is a next page.
  const found = await listMerchantPayments(db, filter, query.limit + 1);
  const page = found.slice(0, query.limit);
  const last = page.at(-1);
  const hasNext = last !== undefined && found.length > page.length;
  return {
    status: 200,
    ...(hasNext && { headers: { Link: linkToNext(publicBaseUrl, request.originalUrl, encodeCursor(last)) } }),
    body: { transactions: page.map(listedPaymentView) },
  };
};

/** The same question with another cursor (RFC 8288). */
function linkToNext(publicBaseUrl: string, originalUrl: string, cursor: string): string {
  const query = new URLSearchParams(originalUrl.replace(/^[^?]*/, ''));
  query.set('cursor', cursor);
  return `<${publicBaseUrl}/transactions?${query.toString()}>; rel="next"`;
}
