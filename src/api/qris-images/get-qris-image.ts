import { ApiError } from '../../http/api-error';
import { publicEndpoint } from '../../http/endpoint';
import { logPayment } from '../../temporal/log-payment';
import type { ApiDependencies } from '../dependencies';
import type { ImageFormat } from './qris-images';

const FILE_NAME = /^([A-Za-z0-9_-]+)\.(png|svg)$/;

const CONTENT_TYPES = { png: 'image/png', svg: 'image/svg+xml; charset=utf-8' } as const satisfies Record<
  ImageFormat,
  string
>;

/** The image that a customer scans. It never changes. */
export const getQrisImage = publicEndpoint({
  method: 'get',
  path: '/qris/:file',
  countsAgainstNetworkLimit: true,
  async handler({ qrisImages, qrisLinks }: Pick<ApiDependencies, 'qrisImages' | 'qrisLinks'>, { params }) {
    const [, token = '', extension] = FILE_NAME.exec(String(params.file)) ?? [];
    const format = extension === 'svg' ? 'svg' : 'png';
    const paymentId = await qrisLinks.idOf(token);
    if (paymentId) logPayment(paymentId);
    const image = paymentId && (await qrisImages.find(paymentId, format));
    if (!image) {
      const internal = paymentId ? `payment ${paymentId} has no QR` : 'invalid file name or token';
      throw new ApiError('not_found', 'There is no such QR code.', { internal });
    }
    return {
      status: 200,
      headers: { 'Content-Type': CONTENT_TYPES[format], 'Cache-Control': 'public, max-age=31536000, immutable' },
      body: image,
    };
  },
});
