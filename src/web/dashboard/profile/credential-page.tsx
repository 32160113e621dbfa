import type { ReactElement, ReactNode } from 'react';
import type { FieldErrors } from '../../page/read-form';
import { ConfirmForm } from '../../ui/form';
import { Card, PageHead } from '../../ui/layout';
import { EnrolForm, RecoveryCodes, type EnrolFormProps } from '../sign-in/enrol-page';
import { NewPasswordFields, SignInForm } from '../sign-in/sign-in-form';
import { SIGN_IN_TEXTS } from '../sign-in/sign-in-texts';
import { PROFILE_TEXTS } from './profile-texts';
import { renderUserPage, type UserView } from './user-page';

const SECURITY = '/profile/security';

/** A page on which the user changes one way to sign in. */
export function renderCredentialPage(
  view: UserView,
  title: string,
  content: ReactNode,
  scripts: readonly string[] = [],
): string {
  const children = (
    <div className="narrow">
      <PageHead title={title} back={{ href: SECURITY, label: PROFILE_TEXTS[view.language].security }} />
      <Card>
        <div className="card-body">{content}</div>
      </Card>
    </div>
  );
  return renderUserPage(view, { title, current: 'security', scripts, children });
}

export function renderPasswordPage(view: UserView, errors: FieldErrors): string {
  const texts = SIGN_IN_TEXTS[view.language];
  const { password } = PROFILE_TEXTS[view.language];
  const form = { texts, action: `${SECURITY}/password`, button: password.change, errors };
  const content: ReactElement = (
    <>
      <p>{password.explanation}</p>
      <SignInForm {...form}>
        <NewPasswordFields texts={texts} errors={errors} email={view.email} />
      </SignInForm>
    </>
  );
  return renderCredentialPage(view, password.change, content);
}

interface TotpPage extends Pick<EnrolFormProps, 'enrolment' | 'errors'> {
  readonly view: UserView;
  /** The user has an app, whose codes stop working. */
  readonly replaces: boolean;
}

export function renderTotpPage({ view, replaces, ...form }: TotpPage): string {
  const texts = SIGN_IN_TEXTS[view.language];
  const { totp } = PROFILE_TEXTS[view.language];
  const content = (
    <>
      {replaces && <p className="notice warning">{totp.replacing}</p>}
      <EnrolForm texts={texts} action={`${SECURITY}/totp`} {...form} />
    </>
  );
  return renderCredentialPage(view, totp.title, content);
}

export function renderNewRecoveryCodesPage(view: UserView): string {
  const { codes } = PROFILE_TEXTS[view.language];
  const content = (
    <>
      <p>{codes.explanation}</p>
      <ConfirmForm action={`${SECURITY}/recovery-codes`} label={codes.button} tone="primary" rejection={null} />
    </>
  );
  return renderCredentialPage(view, codes.create, content);
}

/** The new codes, once. */
export function renderShownCodesPage(view: UserView, codes: readonly string[]): string {
  const texts = SIGN_IN_TEXTS[view.language];
  const content = <RecoveryCodes texts={texts} codes={codes} returnPath={SECURITY} />;
  return renderCredentialPage(view, texts.recovery.title, content);
}
