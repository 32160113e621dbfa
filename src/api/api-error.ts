import { z } from 'zod';
import { API_ERRORS, type ApiErrorCode } from '../domain/errors';

/** A refusal of the contract: thrown by whoever finds it, answered by the app with its status and body. */
export class ApiError extends Error {
  readonly httpStatus: number;

  /**
   * @param message what the caller reads; the table's own sentence when nothing more exact is known
   * @param headers of the answer
   */
  constructor(
    readonly code: ApiErrorCode,
    message: string = API_ERRORS[code].message,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
    this.httpStatus = API_ERRORS[code].httpStatus;
  }

  get body(): { error: { code: ApiErrorCode; message: string } } {
    return { error: { code: this.code, message: this.message } };
  }
}

/** The `error` object of a failure (contract, "Errors"), narrowed to the codes that can occur at its place. */
export function errorSchema(codes: readonly ApiErrorCode[]) {
  return z.object({
    code: z.enum(codes),
    message: z
      .string()
      .meta({ description: 'For people: names the field and the rule; may be worded anew at any time.' }),
  });
}
