import { publicEndpoint, type PublicEndpoint } from '../../http/endpoint';
import { type MerchantEndpoint } from '../endpoint';
import { buildDocument } from './document';

/** The contract (docs/contract.md) as OpenAPI 3.1. */
export function getOpenapi(endpoints: readonly MerchantEndpoint[]): PublicEndpoint<unknown> {
  const body = Buffer.from(JSON.stringify(buildDocument(endpoints)));
  const headers = { 'Content-Type': 'application/json; charset=utf-8' };
  return publicEndpoint({
    method: 'get',
    path: '/openapi.json',
    countsAgainstNetworkLimit: true,
    handler: () => Promise.resolve({ status: 200, headers, body }),
  });
}
