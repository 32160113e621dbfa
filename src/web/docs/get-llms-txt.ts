import { publicEndpoint } from '../../http/endpoint';
import { renderLlmsTxt } from './guides';

/** An index of the documentation for tools. */
export const getLlmsTxt = publicEndpoint({
  method: 'get',
  path: '/llms.txt',
  countsAgainstNetworkLimit: true,
  handler: ({ publicBaseUrl }: { readonly publicBaseUrl: string }) =>
    Promise.resolve({
      status: 200,
      headers: { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'public, max-age=3600' },
      body: renderLlmsTxt(publicBaseUrl),
    }),
});
