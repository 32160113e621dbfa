import type { ReactElement } from 'react';
import type { Language } from '../../../domain/sign-in';
import { drawQrisPath } from '../../../qris/image';
import type { FieldErrors } from '../../page/read-form';
import { SIGN_IN_PATHS } from '../../page/return-paths';
import { Field } from '../../ui/form';
import { PASSKEY_SCRIPTS } from '../files';
import { PasskeyButton } from './passkey-button';
import { SignInForm } from './sign-in-form';
import { renderSignInPage } from './sign-in-frame';
import { SIGN_IN_TEXTS, type SignInTexts } from './sign-in-texts';

/** What an authenticator app needs. */
interface Enrolment {
  readonly secret: string;
  readonly uri: string;
  readonly sealed: string;
}

export interface EnrolFormProps {
  readonly texts: SignInTexts;
  readonly action: string;
  readonly enrolment: Enrolment;
  readonly errors: FieldErrors;
  readonly returnPath?: string;
}

/** The secret as QR and as text, and the code that confirms it. */
export function EnrolForm({ enrolment, ...form }: EnrolFormProps): ReactElement {
  const { enrol, recovery } = form.texts;
  const { size, path } = drawQrisPath(enrolment.uri);
  return (
    <>
      <div className="totp-app">
        <p>{enrol.scan}</p>
        <div className="totp-code">
          <svg role="img" aria-label={enrol.qr} viewBox={`0 0 ${size} ${size}`} shapeRendering="crispEdges">
            <rect width={size} height={size} fill="#fff" />
            <path d={path} fill="#000" />
          </svg>
        </div>
        <a href={enrolment.uri}>{enrol.open}</a>
      </div>
      <p>
        {enrol.secret}
        <br />
        <code className="totp-secret">{enrolment.secret.replaceAll(/.{4}(?=.)/g, '$& ')}</code>
        <button type="button" className="copy" data-copy={enrolment.secret} data-copied={recovery.copied} hidden>
          {enrol.copy}
        </button>
      </p>
      <SignInForm {...form} button={enrol.button}>
        <input type="hidden" name="enrolment" value={enrolment.sealed} />
        <Field
          name="code"
          label={enrol.code}
          hint={enrol.codeHint}
          value=""
          error={form.errors.code}
          inputMode="numeric"
          autoComplete="one-time-code"
          maxLength={7}
          required
        />
      </SignInForm>
    </>
  );
}

interface EnrolPage extends EnrolFormProps {
  readonly language: Language;
  readonly isSandbox: boolean;
}

/** A user who has only a password sets the second factor, before anything else. */
export function renderEnrolPage({ language, isSandbox, ...form }: EnrolPage): string {
  const { title, required } = form.texts.enrol;
  const children = (
    <>
      <p>{required}</p>
      <EnrolForm {...form} />
      <PasskeyButton
        action="/login/enrol/passkey"
        label={form.texts.passkey.create}
        returnPath={form.returnPath ?? SIGN_IN_PATHS.home}
      />
    </>
  );
  return renderSignInPage({
    language,
    isSandbox,
    title,
    scripts: PASSKEY_SCRIPTS.offer,
    otherLanguage: null,
    children,
  });
}

interface RecoveryCodesProps {
  readonly texts: SignInTexts;
  readonly codes: readonly string[];
  readonly returnPath: string;
}

/** The codes, which are shown once: to copy, to print, and then to go on. */
export function RecoveryCodes({ texts: { recovery }, codes, returnPath }: RecoveryCodesProps): ReactElement {
  return (
    <>
      <p>{recovery.explanation}</p>
      <p className="notice warning">{recovery.once}</p>
      <ol className="recovery-codes">
        {codes.map((code) => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ol>
      <div className="buttons no-print">
        <button type="button" className="button" data-copy={codes.join('\n')} data-copied={recovery.copied} hidden>
          {recovery.copy}
        </button>
        <button type="button" className="button" data-print="" hidden>
          {recovery.print}
        </button>
        <a className="button primary wide-button" href={returnPath}>
          {recovery.stored}
        </a>
      </div>
    </>
  );
}

interface RecoveryPage {
  readonly language: Language;
  readonly isSandbox: boolean;
  readonly codes: readonly string[];
  readonly returnPath: string;
}

export function renderRecoveryCodesPage({ language, isSandbox, ...codes }: RecoveryPage): string {
  const texts = SIGN_IN_TEXTS[language];
  const children = <RecoveryCodes texts={texts} {...codes} />;
  return renderSignInPage({ language, isSandbox, title: texts.recovery.title, otherLanguage: null, children });
}
