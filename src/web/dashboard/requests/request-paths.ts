import { z } from 'zod';
import { isRequestId } from '../../../domain/correlation';
import { merchantCode, pagePath } from '../../page/page-path';

export const requestsPath = pagePath('/m/:code/developers/requests', { code: merchantCode });
export const requestPath = pagePath('/m/:code/developers/requests/:request', {
  code: merchantCode,
  request: z.string().refine(isRequestId),
});
