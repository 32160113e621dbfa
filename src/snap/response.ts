import { z } from 'zod';
import { indeterminate, type Indeterminate } from '../domain/provider-call';
import { readFields, shown, snapCode } from '../lib/fields';
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

const MAX_MESSAGE_LENGTH = 200;

/** Indeterminate if the body is not one of SNAP, or if its code contradicts the HTTP status. */
export function readResponse(httpStatus: number, text: string): SnapResponse | Indeterminate {
  const body = parseJson(text);
  const read = readFields(responseSchema(httpStatus), body);
  if (!read.ok) return indeterminate(`HTTP ${httpStatus} without a SNAP response: ${read.reason}`);
  const { responseCode: code, responseMessage } = read.fields;
  const status = `${code.whole} ${responseMessage ?? ''}`.trimEnd();
  return { outcome: 'responded', httpStatus, caseCode: code.caseCode, body, status };
}

/** HTTP status, service and case. The service has two digits, in samples of Midtrans also three. */
const responseSchema = (httpStatus: number) =>
  z.object({ responseCode: snapCode(httpStatus), responseMessage: shown(MAX_MESSAGE_LENGTH) });
