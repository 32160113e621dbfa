import { ApiError } from '../../http/api-error';
import { publicEndpoint } from '../../http/endpoint';
import { findCheckoutFile } from './files';

/** The style and the script of the checkout page. Their names contain a hash of their content. */
export const getCheckoutFile = publicEndpoint({
  method: 'get',
  path: '/checkout/:file',
  countsAgainstNetworkLimit: true,
  async handler(_dependencies, { params }) {
    const file = findCheckoutFile(String(params.file));
    if (!file) throw new ApiError('not_found', 'There is no such file.');
    return {
      status: 200,
      headers: { 'Content-Type': file.contentType, 'Cache-Control': 'public, max-age=31536000, immutable' },
      body: file.content,
    };
  },
});
