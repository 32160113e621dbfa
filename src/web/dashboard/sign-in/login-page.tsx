import type { ReactElement } from 'react';
import type { Language } from '../../../domain/sign-in';
import type { FormAttributes } from '../../page/field-attributes';
import type { FieldErrors } from '../../page/read-form';
import { Field } from '../../ui/form';
import { PASSKEY_SCRIPTS } from '../files';
import { Introduction } from './introduction';
import { PasskeyButton } from './passkey-button';
import { CodeField, SignInForm } from './sign-in-form';
import { renderSignInPage } from './sign-in-frame';
import { SIGN_IN_TEXTS } from './sign-in-texts';

interface LoginPage {
  readonly language: Language;
  readonly isSandbox: boolean;
  /** The address of the form, with the language that was chosen. */
  readonly action: string;
  readonly otherLanguage: string | null;
  readonly email: string;
  readonly returnPath: string;
  readonly errors: FieldErrors;
  readonly attributes: FormAttributes;
}

/** The first page of a sign-in: e-mail and password. */
export function renderLoginPage(page: LoginPage): string {
  const { title } = SIGN_IN_TEXTS[page.language].login;
  return renderSignInPage({ ...page, title, scripts: PASSKEY_SCRIPTS.offer, children: <Login {...page} /> });
}

function Login({ language, action, email, returnPath, errors, attributes }: LoginPage): ReactElement {
  const texts = SIGN_IN_TEXTS[language];
  return (
    <>
      <Introduction language={language} />
      <SignInForm {...{ texts, action, button: texts.login.button, errors, returnPath }}>
        <Field
          name="email"
          label={texts.email}
          value={email}
          error={errors.email}
          type="email"
          autoComplete="username"
          {...attributes.email}
        />
        <Field
          name="password"
          label={texts.password}
          value=""
          error={errors.password}
          type="password"
          autoComplete="current-password"
          {...attributes.password}
        />
      </SignInForm>
      <PasskeyButton action="/login/passkey" label={texts.passkey.use} returnPath={returnPath} />
      <details>
        <summary>{texts.login.help}</summary>
        <p className="dim">{texts.login.helpText}</p>
      </details>
    </>
  );
}

interface CodePage {
  readonly language: Language;
  readonly isSandbox: boolean;
  readonly returnPath: string;
  readonly errors: FieldErrors;
}

/** The second page of a sign-in: a code of the app, or a recovery code. */
export function renderCodePage(page: CodePage): string {
  const { title } = SIGN_IN_TEXTS[page.language].code;
  const scripts = PASSKEY_SCRIPTS.offer;
  return renderSignInPage({ ...page, title, scripts, otherLanguage: null, children: <Code {...page} /> });
}

function Code({ language, returnPath, errors }: CodePage): ReactElement {
  const texts = SIGN_IN_TEXTS[language];
  const { code } = texts;
  return (
    <>
      <SignInForm {...{ texts, action: '/login/code', button: texts.continue, errors, returnPath }}>
        <CodeField label={code.label} hint={code.hint} error={errors.code} />
      </SignInForm>
      <PasskeyButton action="/login/passkey" label={texts.passkey.use} returnPath={returnPath} />
      <a href="/login">{code.other}</a>
    </>
  );
}
