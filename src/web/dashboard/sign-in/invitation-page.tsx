import type { ReactElement } from 'react';
import type { MemberRole } from '../../../domain/member-roles';
import type { Language } from '../../../domain/sign-in';
import type { FieldErrors } from '../../page/read-form';
import { SIGN_IN_PATHS } from '../../page/return-paths';
import { Field } from '../../ui/form';
import { DASHBOARD_TEXTS } from '../texts/texts';
import { Introduction } from './introduction';
import { NAME_ATTRIBUTES } from './name-field';
import { NewPasswordFields, SignInForm } from './sign-in-form';
import { renderSignInPage } from './sign-in-frame';
import { SIGN_IN_TEXTS } from './sign-in-texts';

/** Who has opened the invitation. */
type Invited =
  | { readonly kind: 'new'; readonly name: string; readonly errors: FieldErrors; readonly action: string }
  | { readonly kind: 'known'; readonly loginPath: string }
  | { readonly kind: 'signed_in'; readonly joinPath: string }
  | { readonly kind: 'other_user'; readonly signedInAs: string };

interface InvitationPage {
  readonly language: Language;
  readonly isSandbox: boolean;
  readonly otherLanguage: string | null;
  readonly email: string;
  readonly role: MemberRole;
  readonly merchantName: string;
  readonly invited: Invited;
}

export function renderInvitationPage(page: InvitationPage): string {
  const title = SIGN_IN_TEXTS[page.language].invitation.title(page.merchantName);
  return renderSignInPage({ ...page, title, children: <Invitation {...page} /> });
}

function Invitation(page: InvitationPage): ReactElement {
  const { invitation } = SIGN_IN_TEXTS[page.language];
  const role = DASHBOARD_TEXTS[page.language].roles[page.role];
  return (
    <>
      <Introduction language={page.language} />
      <p className="breakable">{invitation.invited(page.email, role)}</p>
      <NextStep page={page} role={role} />
    </>
  );
}

function NextStep({ page, role }: { readonly page: InvitationPage; readonly role: string }): ReactElement {
  const { language, email, merchantName, invited } = page;
  const texts = SIGN_IN_TEXTS[language];
  const { invitation } = texts;
  switch (invited.kind) {
    case 'known':
      return (
        <>
          <p>{invitation.known}</p>
          <a className="button primary wide-button" href={invited.loginPath}>
            {invitation.signIn}
          </a>
        </>
      );
    case 'signed_in':
      return (
        <form method="post" action={invited.joinPath}>
          <button className="button primary wide-button">{invitation.join(merchantName, role)}</button>
        </form>
      );
    case 'other_user':
      return (
        <form method="post" action={SIGN_IN_PATHS.logout} className="stack">
          <p className="breakable">{invitation.otherUser(invited.signedInAs)}</p>
          <button className="button primary wide-button">{DASHBOARD_TEXTS[language].signOut}</button>
        </form>
      );
    case 'new': {
      const { name, errors, action } = invited;
      return (
        <SignInForm texts={texts} action={action} button={invitation.create} errors={errors}>
          <Field
            name="name"
            label={texts.name}
            value={name}
            error={errors.name}
            autoComplete="name"
            {...NAME_ATTRIBUTES}
          />
          <NewPasswordFields texts={texts} errors={errors} email={email} />
        </SignInForm>
      );
    }
  }
}

interface ResetPage {
  readonly language: Language;
  readonly isSandbox: boolean;
  readonly otherLanguage: string | null;
  readonly action: string;
  readonly email: string;
  readonly errors: FieldErrors;
}

/** A new password, which replaces every credential. */
export function renderResetPage(page: ResetPage): string {
  const { title } = SIGN_IN_TEXTS[page.language].reset;
  return renderSignInPage({ ...page, title, children: <Reset {...page} /> });
}

function Reset({ language, action, email, errors }: ResetPage): ReactElement {
  const texts = SIGN_IN_TEXTS[language];
  return (
    <>
      <p className="breakable">{texts.reset.explanation(email)}</p>
      <SignInForm {...{ texts, action, button: texts.reset.button, errors }}>
        <NewPasswordFields texts={texts} errors={errors} email={email} />
      </SignInForm>
    </>
  );
}
