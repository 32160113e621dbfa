import type { ReactElement } from 'react';
import type { Language } from '../../../domain/sign-in';
import { PASSKEY_SCRIPTS } from '../files';
import { renderSignInPage } from './sign-in-frame';
import { SIGN_IN_TEXTS, type SignInTexts } from './sign-in-texts';

export interface PasskeyRequest {
  /** Whether the browser makes a passkey, or signs with one. */
  readonly kind: 'create' | 'get';
  /** What the browser is asked, as JSON. */
  readonly options: string;
  /** To where the response goes, with these fields. */
  readonly action: string;
  readonly fields: readonly (readonly [name: string, value: string])[];
  /** The path of another way to sign in. */
  readonly back: string;
}

interface PasskeyFormProps extends PasskeyRequest {
  readonly texts: SignInTexts;
}

/** The browser asks for the passkey when the page opens. The script sends what the passkey has signed. */
export function PasskeyForm({ texts, kind, options, action, fields, back }: PasskeyFormProps): ReactElement {
  const { passkey } = texts;
  return (
    <form className="stack" method="post" action={action} data-passkey={kind} data-options={options}>
      <p>{kind === 'create' ? passkey.createExplanation : passkey.explanation}</p>
      <p className="notice warning" data-no-passkey="">
        {passkey.needsScript}
      </p>
      <p className="notice warning" role="alert" data-passkey-failed="" hidden>
        {passkey.failed}
      </p>
      {fields.map(([name, value]) => (
        <input key={name} type="hidden" name={name} value={value} />
      ))}
      <input type="hidden" name="response" value="" />
      <div className="buttons">
        <button type="button" className="button primary wide-button" data-passkey-start="" hidden>
          {passkey.start}
        </button>
        <a className="button wide-button" href={back}>
          {texts.cancel}
        </a>
      </div>
    </form>
  );
}

interface PasskeyPage extends PasskeyRequest {
  readonly language: Language;
  readonly isSandbox: boolean;
}

/** The page of a sign-in or a step-up on which the browser asks for a passkey. */
export function renderPasskeyPage({ language, isSandbox, ...request }: PasskeyPage): string {
  const texts = SIGN_IN_TEXTS[language];
  const title = request.kind === 'create' ? texts.passkey.createTitle : texts.passkey.title;
  const children = <PasskeyForm texts={texts} {...request} />;
  return renderSignInPage({
    language,
    isSandbox,
    title,
    scripts: PASSKEY_SCRIPTS.request,
    otherLanguage: null,
    children,
  });
}
