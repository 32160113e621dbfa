import { z } from 'zod';
import { InvalidError } from '../../../errors';
import { attributesOf } from '../../page/field-attributes';
import type { FieldErrors } from '../../page/read-form';
import { fieldTexts, formProblem, problemErrors, signInProblem, type SignInProblem } from './sign-in-problem';
import type { SignInTexts } from './sign-in-texts';

const newPassword = z.string({ error: 'missing' }).max(128, { error: 'too_long' });

/** A new password, typed twice. */
export const newPasswordFields = { password: newPassword, repeat: newPassword };

/** What the browser checks of both. */
export const NEW_PASSWORD_ATTRIBUTES = attributesOf(z.object(newPasswordFields)).password;

/** The two fields must be the same. */
export function mismatchOf(fields: { readonly password: string; readonly repeat: string }): FieldErrors {
  return fields.password === fields.repeat ? {} : { repeat: 'mismatch' };
}

interface RejectedForm {
  readonly errors: FieldErrors;
  readonly problem: SignInProblem;
}

/** A form whose new password violates a rule, or that came too often. @throws every other error */
export function rejectedPassword(texts: SignInTexts, error: unknown): RejectedForm {
  if (error instanceof InvalidError && error.field === 'password') {
    return { errors: fieldTexts(texts, { password: error.message }), problem: formProblem('') };
  }
  const problem = signInProblem(texts, error);
  return { errors: problemErrors(problem, 'password'), problem };
}
