import type { FieldErrors } from '../../page/read-form';
import { ConfirmForm, Field } from '../../ui/form';
import { PASSKEY_SCRIPTS } from '../files';
import { NAME_ATTRIBUTES } from '../sign-in/name-field';
import { PasskeyForm, type PasskeyRequest } from '../sign-in/passkey-page';
import { SignInForm } from '../sign-in/sign-in-form';
import { SIGN_IN_TEXTS } from '../sign-in/sign-in-texts';
import { renderCredentialPage } from './credential-page';
import { PROFILE_TEXTS } from './profile-texts';
import type { UserView } from './user-page';

const PASSKEYS = '/profile/security/passkeys';

interface NamePage {
  readonly view: UserView;
  /** Null: the passkey is a new one. */
  readonly id: string | null;
  readonly name: string;
  readonly errors: FieldErrors;
}

/** The name of a new passkey, or of one that can be removed as well. */
export function renderPasskeyNamePage({ view, id, name, errors }: NamePage): string {
  const texts = SIGN_IN_TEXTS[view.language];
  const { passkeys } = PROFILE_TEXTS[view.language];
  const action = `${PASSKEYS}/${id ?? 'new'}`;
  const remove = id !== null && (
    <a className="button wide-button" href={`${action}/remove`}>
      {passkeys.remove}
    </a>
  );
  const content = (
    <>
      {id === null && (
        <>
          <p>{passkeys.explanation}</p>
          <p className="notice warning" data-no-passkey="">
            {texts.passkey.needsScript}
          </p>
        </>
      )}
      <SignInForm
        {...{ texts, action, errors, button: id === null ? texts.continue : passkeys.rename, others: remove }}
      >
        <Field
          name="name"
          label={passkeys.name}
          hint={passkeys.nameHint}
          value={name}
          error={errors.name}
          {...NAME_ATTRIBUTES}
        />
      </SignInForm>
    </>
  );
  return renderCredentialPage(view, id === null ? passkeys.add : passkeys.change, content, PASSKEY_SCRIPTS.offer);
}

/** The browser asks where to keep the new passkey. */
export function renderNewPasskeyPage(view: UserView, request: PasskeyRequest): string {
  const texts = SIGN_IN_TEXTS[view.language];
  const content = <PasskeyForm texts={texts} {...request} />;
  return renderCredentialPage(view, texts.passkey.createTitle, content, PASSKEY_SCRIPTS.request);
}

interface RemovalPage {
  readonly view: UserView;
  readonly id: string;
  readonly name: string;
  readonly isLast: boolean;
}

export function renderPasskeyRemovalPage({ view, id, name, isLast }: RemovalPage): string {
  const { passkeys } = PROFILE_TEXTS[view.language];
  const action = `${PASSKEYS}/${id}/remove`;
  const content = (
    <>
      <p>{passkeys.removing}</p>
      <ConfirmForm action={action} label={passkeys.remove} tone="danger" rejection={isLast ? passkeys.last : null} />
    </>
  );
  return renderCredentialPage(view, passkeys.removeTitle(name), content);
}
