import { z } from 'zod';
import { API_ERRORS, ERROR_REASONS, isErrorReason, type ApiErrorCode, type ErrorReason } from '../domain/errors';

interface ApiErrorDetails {
  /** The headers of the response. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The reason for the log. The caller never sees it, and it contains nothing of a body or a key. */
  readonly internal?: string;
  /** The code, if the endpoint has another one for the reason. */
  readonly code?: ApiErrorCode | undefined;
}

/** A failure of docs/contract.md#errors: `app.ts` sends its status and body, and logs its internal reason. */
export class ApiError extends Error {
  readonly code: ApiErrorCode;
  /** Null: the code needs none. */
  readonly reason: ErrorReason | null;
  readonly httpStatus: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly internal: string;

  /**
   * @param name the code, or the reason, which has one code by default
   * @param message for the caller; by default the sentence of the code
   */
  constructor(name: ApiErrorCode | ErrorReason, message?: string, details: ApiErrorDetails = {}) {
    const { headers = {}, internal, code: otherCode } = details;
    const reason = isErrorReason(name) ? name : null;
    const code = otherCode ?? (isErrorReason(name) ? ERROR_REASONS[name].code : name);
    super(message ?? API_ERRORS[code].message);
    this.code = code;
    this.reason = reason;
    this.httpStatus = API_ERRORS[code].httpStatus;
    this.headers = reason === null ? headers : { ...headers, 'X-Error-Reason': reason };
    this.internal = internal ?? this.message;
  }

  get body(): { error: { code: ApiErrorCode; message: string } } {
    return { error: { code: this.code, message: this.message } };
  }
}

/** @param advice what the caller probably looks for, or where the documents are */
export function unknownAddress(advice?: string): ApiError {
  return new ApiError('path_unknown', withAdvice('There is no such address.', advice), { internal: 'no such path' });
}

/**
 * docs/contract.md#errors has no 405.
 * @param methods what the address takes
 */
export function unknownMethod(method: string, methods: readonly string[], advice?: string): ApiError {
  const takes = methods.join(', ');
  const message = withAdvice(`This address takes ${takes}, and not ${method}.`, advice);
  return new ApiError('method_unknown', message, { headers: { Allow: takes } });
}

const withAdvice = (message: string, advice: string | undefined) => [message, advice ?? []].flat().join(' ');

/** The `error` object of a failure (docs/contract.md#errors), narrowed to the codes that can occur there. */
export function errorSchema<Code extends ApiErrorCode>(codes: readonly Code[]) {
  return z.object({
    code: z.enum(codes),
    message: z.string().meta({ description: 'For humans: names the field and the rule; may change at any time.' }),
  });
}
