import { z } from 'zod';
import { API_ERRORS, type ApiErrorCode } from '../domain/errors';

interface ApiErrorDetails {
  /** The headers of the response. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The reason for the log. The caller never sees it, and it contains nothing of a body or a key. */
  readonly internal?: string;
}

/** A failure of docs/contract.md#errors: `app.ts` sends its status and body, and logs its internal reason. */
export class ApiError extends Error {
  readonly httpStatus: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly internal: string;

  /** @param message for the caller; by default the sentence of `API_ERRORS` */
  constructor(
    readonly code: ApiErrorCode,
    message: string = API_ERRORS[code].message,
    { headers = {}, internal = message }: ApiErrorDetails = {},
  ) {
    super(message);
    this.httpStatus = API_ERRORS[code].httpStatus;
    this.headers = headers;
    this.internal = internal;
  }

  get body(): { error: { code: ApiErrorCode; message: string } } {
    return { error: { code: this.code, message: this.message } };
  }
}

/** The `error` object of a failure (docs/contract.md#errors), narrowed to the codes that can occur there. */
export function errorSchema<Code extends ApiErrorCode>(codes: readonly Code[]) {
  return z.object({
    code: z.enum(codes),
    message: z.string().meta({ description: 'For humans: names the field and the rule; may change at any time.' }),
  });
}
