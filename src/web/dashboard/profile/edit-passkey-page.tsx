import type { FieldErrors } from '../../page/read-form';
import { ConfirmPage } from '../../ui/confirm-page';
import { Field } from '../../ui/form';
import { Time } from '../../ui/values';
import { PASSKEY_SCRIPTS } from '../files';
import { NAME_ATTRIBUTES } from '../sign-in/name-field';
import { PasskeyForm, type PasskeyRequest } from '../sign-in/passkey-page';
import { SignInForm } from '../sign-in/sign-in-form';
import { SIGN_IN_TEXTS } from '../sign-in/sign-in-texts';
import { renderCredentialPage } from './credential-page';
import { LastUse, storageText, type ShownPasskey } from './passkey-list';
import { PROFILE_TEXTS } from './profile-texts';
import { localeOf, renderUserPage, type UserView } from './user-page';

const SECURITY = '/profile/security';
const PASSKEYS = `${SECURITY}/passkeys`;

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
    <a className="button danger wide-button" href={`${action}/remove`}>
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
  return renderCredentialPage(view, id === null ? passkeys.add : passkeys.changeTitle, content, PASSKEY_SCRIPTS.offer);
}

/** The browser asks where to keep the new passkey. */
export function renderNewPasskeyPage(view: UserView, request: PasskeyRequest): string {
  const texts = SIGN_IN_TEXTS[view.language];
  const content = <PasskeyForm texts={texts} {...request} />;
  return renderCredentialPage(view, texts.passkey.createTitle, content, PASSKEY_SCRIPTS.request);
}

interface RemovalPage {
  readonly view: UserView;
  readonly passkey: ShownPasskey;
  readonly isLast: boolean;
}

/** The question before a passkey is removed. */
export function renderPasskeyRemovalPage({ view, passkey, isLast }: RemovalPage): string {
  const { language } = view;
  const { passkeys, security } = PROFILE_TEXTS[language];
  const { columns } = passkeys;
  const { name, isBackedUp, createdAt, lastUsedAt } = passkey;
  const children = (
    <ConfirmPage
      title={passkeys.removeTitle}
      back={{ href: SECURITY, label: security }}
      facts={[
        { name: columns.name, value: <bdi>{name}</bdi> },
        { name: passkeys.device, value: storageText(view, isBackedUp) },
        { name: columns.added, value: <Time at={createdAt} style="short" locale={localeOf(view)} /> },
        { name: columns.used, value: <LastUse view={view} at={lastUsedAt} /> },
      ]}
      explanation={passkeys.removing}
      action={`${PASSKEYS}/${passkey.id}/remove`}
      button={passkeys.remove}
      cancel={SIGN_IN_TEXTS[language].cancel}
      tone="danger"
      rejection={isLast ? passkeys.last : null}
    />
  );
  return renderUserPage(view, { title: passkeys.removeTitle, current: 'security', children });
}
