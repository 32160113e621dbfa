import type { ReactElement } from 'react';
import { MAX_CONTACT_CHARACTERS } from '../../../domain/shop-contact';
import { TIME_ZONES } from '../../../domain/sign-in';
import type { FieldErrors, SentFields } from '../../page/read-form';
import { Choices } from '../../ui/choices';
import { ErrorSummary, Field } from '../../ui/form';
import { Card, PageHead } from '../../ui/layout';
import { TextArea } from '../../ui/text-area';
import { renderMerchantPage } from '../merchant-page';
import type { MerchantView } from '../merchant-view';
import { SETTINGS_TEXTS } from './settings-texts';

interface EditSettingsPage {
  readonly view: MerchantView;
  readonly values: SentFields;
  readonly errors: FieldErrors;
}

export function renderEditSettingsPage(page: EditSettingsPage): string {
  const { editTitle, errorTitle } = SETTINGS_TEXTS[page.view.locale.language];
  return renderMerchantPage(page.view, {
    title: editTitle,
    current: 'settings',
    live: 'none',
    children: (
      <div className="narrow">
        <PageHead title={editTitle} />
        <div className="stack">
          <ErrorSummary title={errorTitle} errors={page.errors} />
          <Card>
            <SettingsForm {...page} />
          </Card>
        </div>
      </div>
    ),
  });
}

function SettingsForm({ view, values, errors }: EditSettingsPage): ReactElement {
  const texts = SETTINGS_TEXTS[view.locale.language];
  const zones = TIME_ZONES.map((zone) => ({ name: zone, label: texts.zones[zone], isChosen: zone === values.zone }));
  return (
    <form className="card-body stack" method="post" action={view.paths.editSettings}>
      <Choices name="zone" kind="radio" label={texts.zone} choices={zones} error={errors.zone} />
      <Field
        name="contact"
        label={texts.contact}
        hint={texts.contactHint}
        value={values.contact ?? ''}
        error={errors.contact}
        autoComplete="off"
        maxLength={MAX_CONTACT_CHARACTERS}
      />
      <fieldset className="stack">
        <legend>{texts.forSites}</legend>
        <Field
          name="return_url"
          label={texts.returnUrl}
          hint={texts.returnHint}
          value={values.return_url ?? ''}
          error={errors.return_url}
          autoComplete="off"
          maxLength={500}
        />
        <TextArea
          name="origins"
          label={texts.origins}
          hint={texts.originsHint}
          value={values.origins ?? ''}
          rows={3}
          error={errors.origins}
        />
      </fieldset>
      <div className="buttons">
        <button className="button primary wide-button">{texts.save}</button>
        <a href={view.paths.settings}>{texts.back}</a>
      </div>
    </form>
  );
}
