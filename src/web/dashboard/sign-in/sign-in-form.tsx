import type { ReactElement, ReactNode } from 'react';
import type { FieldErrors } from '../../page/read-form';
import { ErrorSummary, Field } from '../../ui/form';
import { NEW_PASSWORD_ATTRIBUTES } from './new-password';
import type { SignInTexts } from './sign-in-texts';

interface SignInFormProps {
  readonly texts: SignInTexts;
  readonly action: string;
  readonly button: string;
  /** The text for each field that is wrong. */
  readonly errors: FieldErrors;
  /** To where the browser goes then. Absent: the form decides nothing about it. */
  readonly returnPath?: string;
  readonly children: ReactNode;
  /** Beside the button. */
  readonly others?: ReactNode;
}

/** A form of the sign-in: its fields, and one button. */
export function SignInForm(props: SignInFormProps): ReactElement {
  const { texts, action, button, errors, returnPath, children, others } = props;
  return (
    <form className="stack" method="post" action={action}>
      <ErrorSummary title={texts.notAccepted} errors={errors} />
      {returnPath !== undefined && <input type="hidden" name="then" value={returnPath} />}
      {children}
      <div className="buttons">
        <button className="button primary wide-button">{button}</button>
        {others}
      </div>
    </form>
  );
}

interface CodeFieldProps {
  readonly label: string;
  readonly hint: string;
  readonly error: string | undefined;
}

/** A code of six digits, or a recovery code: so no keyboard of digits alone. */
export function CodeField({ label, hint, error }: CodeFieldProps): ReactElement {
  const shared = { name: 'code', label, hint, error, value: '', required: true };
  return <Field {...shared} autoComplete="one-time-code" maxLength={40} />;
}

interface NewPasswordProps {
  readonly texts: SignInTexts;
  readonly errors: FieldErrors;
  /** For the browser's store of passwords. */
  readonly email: string;
}

/** A new password, twice. What was sent is never written into the page. */
export function NewPasswordFields({ texts, errors, email }: NewPasswordProps): ReactElement {
  const shared = { type: 'password', autoComplete: 'new-password', value: '', ...NEW_PASSWORD_ATTRIBUTES } as const;
  return (
    <>
      <input type="hidden" name="username" value={email} autoComplete="username" />
      <Field {...shared} name="password" label={texts.newPassword} hint={texts.passwordHint} error={errors.password} />
      <Field {...shared} name="repeat" label={texts.repeatPassword} error={errors.repeat} />
    </>
  );
}
