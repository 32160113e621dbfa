import { z } from 'zod';
import { indeterminate, type Indeterminate } from '../domain/provider-call';
import { parseJson } from '../lib/parse-json';

/** A response of a SNAP service, not validated further. */
export interface SnapResponse {
  readonly outcome: 'responded';
  readonly httpStatus: number;
  /** The last two digits of `responseCode`. */
  readonly caseCode: string;
  readonly body: unknown;
  /** Code and message, short enough for a log line. */
  readonly status: string;
}

const MAX_STATUS_LENGTH = 200;

/** HTTP status, service and case. The service has two digits, in samples of Midtrans also three. */
const responseSchema = z.object({
  responseCode: z.string().regex(/^\d{7,8}$/),
  responseMessage: z.string().default(''),
});

/** Indeterminate if the body is not one of SNAP, or if its code contradicts the HTTP status. */
export function readResponse(httpStatus: number, text: string): SnapResponse | Indeterminate {
  const body = parseJson(text);
  const parsed = responseSchema.safeParse(body);
  if (!parsed.success) return indeterminate(`HTTP ${httpStatus} without a SNAP response`);
  const { responseCode, responseMessage } = parsed.data;
  const status = `${responseCode} ${responseMessage}`.slice(0, MAX_STATUS_LENGTH);
  if (responseCode.slice(0, 3) !== String(httpStatus)) return indeterminate(`HTTP ${httpStatus} with ${status}`);
  return { outcome: 'responded', httpStatus, caseCode: responseCode.slice(-2), body, status };
}
