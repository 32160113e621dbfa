import { publicEndpoint, type PublicEndpoint } from '../../http/endpoint';

/** The contract (docs/contract.md) as OpenAPI 3.1. */
export function getOpenapi(document: string): PublicEndpoint<unknown> {
  const body = Buffer.from(document);
  const headers = { 'Content-Type': 'application/json; charset=utf-8' };
  return publicEndpoint({
    method: 'get',
    path: '/openapi.json',
    countsAgainstNetworkLimit: true,
    handler: () => Promise.resolve({ status: 200, headers, body }),
  });
}
