import type { ReactElement } from 'react';
import type { Language } from '../../../domain/sign-in';
import type { FieldErrors } from '../../page/read-form';
import { Field } from '../../ui/form';
import { PASSKEY_SCRIPTS } from '../files';
import { PasskeyButton } from './passkey-button';
import { CodeField, SignInForm } from './sign-in-form';
import { renderSignInPage } from './sign-in-frame';
import { SIGN_IN_TEXTS } from './sign-in-texts';

interface StepUpPage {
  readonly language: Language;
  readonly isSandbox: boolean;
  /** What proves the identity: a code, or the password of a user without a second factor. */
  readonly field: 'code' | 'password';
  readonly hasPasskey: boolean;
  /** To where the browser goes then. */
  readonly returnPath: string;
  readonly errors: FieldErrors;
}

export function renderStepUpPage(page: StepUpPage): string {
  const { language, isSandbox } = page;
  const { title } = SIGN_IN_TEXTS[language].stepUp;
  const scripts = page.hasPasskey ? PASSKEY_SCRIPTS.offer : [];
  return renderSignInPage({ language, isSandbox, title, scripts, otherLanguage: null, children: <StepUp {...page} /> });
}

function StepUp({ language, field, hasPasskey, returnPath, errors }: StepUpPage): ReactElement {
  const texts = SIGN_IN_TEXTS[language];
  const back = (
    <a className="button wide-button" href="/">
      {texts.cancel}
    </a>
  );
  const form = { texts, action: '/step-up', button: texts.continue, errors, returnPath, others: back };
  const { code, password } = errors;
  return (
    <>
      <p>{texts.stepUp.explanation}</p>
      <SignInForm {...form}>
        {field === 'code' ? (
          <CodeField label={texts.code.label} hint={texts.code.hint} error={code} />
        ) : (
          <Field
            name="password"
            label={texts.password}
            value=""
            error={password}
            type="password"
            autoComplete="current-password"
            required
          />
        )}
      </SignInForm>
      {hasPasskey && <PasskeyButton action="/step-up/passkey" label={texts.passkey.use} returnPath={returnPath} />}
    </>
  );
}
