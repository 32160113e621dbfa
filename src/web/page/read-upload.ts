import type { Request, Response as ServerResponse } from 'express';
import { ApiError } from '../../http/api-error';
import { readBody } from '../../http/request-body';

/** The file field of a form. */
export interface UploadField {
  readonly name: string;
  readonly maxBytes: number;
}

/** The bytes of the chosen file; none was chosen, or it is larger than the field allows. */
export type Upload = Buffer | 'missing' | 'too_large';

/** The boundaries and the headers of the parts. */
const FRAME_BYTES = 4 * 1_024;

/** Reads the file of a form whose `enctype` is `multipart/form-data`. Its name and type are not read. */
export async function readUpload(
  request: Request,
  response: ServerResponse,
  { name, maxBytes }: UploadField,
): Promise<Upload> {
  try {
    await readBody(request, response, maxBytes + FRAME_BYTES);
  } catch (error) {
    if (isTooLarge(error, request, maxBytes)) return 'too_large';
    throw error;
  }
  const headers = { 'Content-Type': request.get('content-type') ?? '' };
  const form = await new Response(request.body, { headers }).formData().catch(() => undefined);
  const file = form?.get(name);
  if (file === undefined || file === null || typeof file === 'string' || file.size === 0) return 'missing';
  return file.size > maxBytes ? 'too_large' : Buffer.from(await file.arrayBuffer());
}

/** On a slow line, a file that is too large is also too late. */
function isTooLarge(error: unknown, request: Request, maxBytes: number): boolean {
  if (!(error instanceof ApiError)) return false;
  const isLong = Number(request.get('content-length') ?? 0) > maxBytes;
  return error.reason === 'body_too_large' || (error.reason === 'body_too_late' && isLong);
}
