import { findOriginalResponse } from '../../db/queries/find-original-response';
import { renderQrisPng, renderQrisSvg } from '../../qris/image';
import { ApiError } from '../api-error';
import type { PublicEndpoint } from '../endpoint';

const FILE_NAME = /^([A-Za-z0-9_-]+)\.(png|svg)$/;

/** `GET /qris/<token>.png` and `.svg`: the picture that a customer scans. It never changes. */
export const getQrisImage: PublicEndpoint = async ({ db, qrisLinks }, request) => {
  const [, token = '', format] = FILE_NAME.exec(String(request.params.file)) ?? [];
  const paymentId = qrisLinks.paymentIdOf(token);
  const payload = paymentId && (await findOriginalResponse(db, paymentId))?.payment.qrisPayload;
  if (!payload) throw new ApiError('not_found', 'There is no such QR code.');
  const [contentType, body] =
    format === 'svg' ? ['image/svg+xml', await renderQrisSvg(payload)] : ['image/png', await renderQrisPng(payload)];
  return {
    status: 200,
    headers: { 'Content-Type': contentType, 'Cache-Control': 'public, max-age=31536000, immutable' },
    body,
  };
};
