import type { ReactElement } from 'react';
import { LANGUAGES } from '../../../domain/sign-in';
import type { FieldErrors } from '../../page/read-form';
import { ErrorSummary, Field } from '../../ui/form';
import { Card, Facts, PageHead } from '../../ui/layout';
import { NAME_ATTRIBUTES } from '../sign-in/name-field';
import { SIGN_IN_TEXTS } from '../sign-in/sign-in-texts';
import { PROFILE_TEXTS } from './profile-texts';
import { renderUserPage, type UserView } from './user-page';

interface ProfilePage {
  readonly view: UserView;
  readonly name: string;
  readonly errors: FieldErrors;
}

export function renderProfilePage(page: ProfilePage): string {
  const { profile: title } = PROFILE_TEXTS[page.view.language];
  return renderUserPage(page.view, { title, current: 'profile', children: <Profile {...page} /> });
}

function Profile({ view, name, errors }: ProfilePage): ReactElement {
  const { language, email } = view;
  const texts = PROFILE_TEXTS[language];
  const signIn = SIGN_IN_TEXTS[language];
  return (
    <div className="narrow">
      <PageHead title={texts.profile} />
      <div className="stack">
        <ErrorSummary title={signIn.notAccepted} errors={errors} />
        <Card>
          <Facts facts={[{ name: texts.email, value: <span className="breakable">{email}</span> }]} />
          <form className="card-body" method="post" action="/profile">
            <p className="hint">{texts.emailHint}</p>
            <Field
              name="name"
              label={signIn.name}
              value={name}
              error={errors.name}
              autoComplete="name"
              {...NAME_ATTRIBUTES}
            />
            <fieldset id="language">
              <legend>{texts.language}</legend>
              {LANGUAGES.map((choice) => (
                <label key={choice} className="choice" lang={choice}>
                  <input type="radio" name="language" value={choice} defaultChecked={choice === language} />
                  {texts.languages[choice]}
                </label>
              ))}
            </fieldset>
            <div className="buttons">
              <button className="button primary wide-button">{texts.save}</button>
            </div>
          </form>
        </Card>
      </div>
    </div>
  );
}
