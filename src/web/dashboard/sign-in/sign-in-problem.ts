import { SignInError } from '../../../errors';
import type { EndpointResponse } from '../../../http/endpoint';
import { increment } from '../../../observability/metrics';
import type { Proof } from '../../../services/identity/sign-in';
import { PAGE_HEADERS } from '../../page/headers';
import type { FieldErrors } from '../../page/read-form';
import { FORM_ERROR } from '../../ui/form';
import type { SignInTexts } from './sign-in-texts';

/** Why a form of the sign-in was not accepted, and the status of its response. */
export interface SignInProblem {
  readonly text: string;
  readonly status: 422 | 429 | 503;
  readonly headers: Readonly<Record<string, string>>;
}

/** @throws the error, if the form itself cannot be repeated */
export function signInProblem({ problems }: SignInTexts, error: unknown): SignInProblem {
  if (!(error instanceof SignInError)) throw error;
  const { reason, retryAfterSeconds } = error;
  const headers = retryAfterSeconds === undefined ? {} : { 'Retry-After': String(retryAfterSeconds) };
  switch (reason) {
    case 'credentials':
    case 'code':
    case 'passkey':
      increment('lunas_sign_ins_failed_total', { reason });
      return { text: problems[reason], status: 422, headers };
    case 'throttled':
      increment('lunas_sign_ins_failed_total', { reason });
      return { text: problems.throttled(retryAfterSeconds ?? 1), status: 429, headers };
    case 'busy':
    case 'unavailable':
      return { text: problems[reason], status: 503, headers };
    case 'not_stepped_up':
    case 'session_ended':
    case 'link_used':
    case 'link_invalid':
      throw error;
  }
}

/** The errors of a form. A problem that no field has caused, as a limit of attempts, stands above the form only. */
export const problemErrors = ({ status, text }: SignInProblem, field: string): FieldErrors => ({
  [status === 422 ? field : FORM_ERROR]: text,
});

/** The form itself is not complete. */
export const formProblem = (text: string): SignInProblem => ({ text, status: 422, headers: {} });

/** The texts of what is wrong with the fields of a form. */
export function fieldTexts({ problems, violations }: SignInTexts, errors: FieldErrors): FieldErrors {
  const texts: Readonly<Partial<Record<string, unknown>>> = { ...problems, ...violations };
  const entries = Object.entries(errors).map(([name, code]) => {
    const text = texts[code];
    return [name, typeof text === 'string' ? text : problems.missing];
  });
  return Object.fromEntries(entries);
}

/** A form with a problem, or without one. */
export function signInResponse(html: string, problem?: SignInProblem): EndpointResponse {
  return { status: problem?.status ?? 200, headers: { ...PAGE_HEADERS, ...problem?.headers }, body: html };
}

/** Six digits are of an app, with or without spaces. Any other text may be a recovery code. */
export function codeProof(text: string): Exclude<Proof, { kind: 'password' }> {
  const digits = text.replaceAll(/\s/g, '');
  return /^\d{6}$/.test(digits) ? { kind: 'totp', code: digits } : { kind: 'recovery_code', code: text };
}
