import type { ReactElement } from 'react';
import type { Language } from '../../../domain/sign-in';
import type { FieldErrors } from '../../page/read-form';
import { ErrorSummary, Field } from '../../ui/form';
import { renderSignInPage } from './sign-in-frame';
import { SIGN_IN_TEXTS } from './sign-in-texts';

interface StepUpPage {
  readonly language: Language;
  readonly isSandbox: boolean;
  /** What proves the identity: a code, or the password of a user without a second factor. */
  readonly field: 'code' | 'password';
  /** To where the browser goes then. */
  readonly returnPath: string;
  readonly errors: FieldErrors;
}

export function renderStepUpPage(page: StepUpPage): string {
  const { language, isSandbox } = page;
  const { title } = SIGN_IN_TEXTS[language].stepUp;
  return renderSignInPage({ language, isSandbox, title, otherLanguage: null, children: <StepUp {...page} /> });
}

function StepUp({ language, field, returnPath, errors }: StepUpPage): ReactElement {
  const texts = SIGN_IN_TEXTS[language];
  return (
    <form className="stack" method="post" action="/step-up">
      <p>{texts.stepUp.explanation}</p>
      <ErrorSummary title={texts.checkFields} errors={errors} />
      <input type="hidden" name="then" value={returnPath} />
      {field === 'code' ? (
        <Field
          name="code"
          label={texts.stepUp.code}
          hint={texts.stepUp.codeHint}
          value=""
          error={errors.code}
          autoComplete="one-time-code"
          maxLength={40}
          required
        />
      ) : (
        <Field
          name="password"
          label={texts.stepUp.password}
          value=""
          error={errors.password}
          type="password"
          autoComplete="current-password"
          required
        />
      )}
      <div className="buttons">
        <button className="button primary wide-button">{texts.continue}</button>
        <a className="button wide-button" href="/">
          {texts.cancel}
        </a>
      </div>
    </form>
  );
}
