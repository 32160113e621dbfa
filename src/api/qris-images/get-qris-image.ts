import { findOriginalResponse } from '../../db/queries/find-original-response';
import { renderQrisPng, renderQrisSvg } from '../../qris/image';
import { ApiError } from '../api-error';
import { publicEndpoint } from '../endpoint';

const FILE_NAME = /^([A-Za-z0-9_-]+)\.(png|svg)$/;

/** The image that a customer scans. It never changes. */
export const getQrisImage = publicEndpoint({
  method: 'get',
  path: '/qris/:file',
  async handler({ db, qrisLinks }, { params }) {
    const [, token = '', format] = FILE_NAME.exec(String(params.file)) ?? [];
    const paymentId = await qrisLinks.paymentIdOf(token);
    const payload = paymentId && (await findOriginalResponse(db, paymentId))?.payment.qrisPayload;
    if (!payload) {
      const internal = paymentId ? `payment ${paymentId} has no QR` : 'invalid file name or token';
      throw new ApiError('not_found', 'There is no such QR code.', { internal });
    }
    const [contentType, body] =
      format === 'svg' ? ['image/svg+xml', await renderQrisSvg(payload)] : ['image/png', await renderQrisPng(payload)];
    return {
      status: 200,
      headers: { 'Content-Type': contentType, 'Cache-Control': 'public, max-age=31536000, immutable' },
      body,
    };
  },
});
