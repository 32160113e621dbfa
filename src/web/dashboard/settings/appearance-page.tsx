import type { ReactElement } from 'react';
import type { FieldErrors } from '../../page/read-form';
import { ErrorSummary, Field } from '../../ui/form';
import { Card, DoneNotice, PageHead } from '../../ui/layout';
import { APPEARANCE_SCRIPTS } from '../files';
import { renderMerchantPage } from '../merchant-page';
import type { MerchantView } from '../merchant-view';
import { APPEARANCE_TEXTS, type AppearanceDone } from './appearance-texts';
import { CheckoutSample, type ShownAppearance } from './checkout-sample';
import { appearancePath, removeLogoPath, settingsPath, uploadLogoPath } from './settings-paths';

interface AppearancePage {
  readonly view: MerchantView;
  /** With the colour of the form, if it is one. */
  readonly appearance: ShownAppearance;
  /** The text of the field. */
  readonly accent: string;
  readonly errors: FieldErrors;
  readonly done: AppearanceDone | null;
}

/** The accent of `tokens.css` in light mode. */
const LUNAS_ACCENT = '#0b6b4b';

export function renderAppearancePage(page: AppearancePage): string {
  const { title } = APPEARANCE_TEXTS[page.view.locale.language];
  return renderMerchantPage(page.view, {
    title,
    current: 'settings',
    live: 'none',
    scripts: APPEARANCE_SCRIPTS,
    children: <AppearanceForms {...page} />,
  });
}

function AppearanceForms(page: AppearancePage): ReactElement {
  const { view, appearance, errors, done } = page;
  const texts = APPEARANCE_TEXTS[view.locale.language];
  return (
    <div className="narrow">
      <PageHead title={texts.title} back={{ href: settingsPath.to(view), label: texts.back }} />
      <div className="stack">
        <DoneNotice text={done && texts.done[done]} />
        <ErrorSummary title={texts.errorTitle} errors={errors} />
        <Card title={texts.sample}>
          <div className="card-body">
            <CheckoutSample view={view} appearance={appearance} />
            <p className="dim">{texts.sampleHint}</p>
          </div>
        </Card>
        <Card title={texts.colourCard}>
          <ColourForm {...page} />
        </Card>
        <Card title={texts.logo}>
          <LogoForms {...page} />
        </Card>
      </div>
    </div>
  );
}

/** The button of the preview opens this page with the colour in its address. */
function ColourForm({ view, appearance, accent, errors }: AppearancePage): ReactElement {
  const texts = APPEARANCE_TEXTS[view.locale.language];
  return (
    <form className="card-body" method="post" action={appearancePath.to(view)}>
      <div className="colour-field">
        <Field
          name="accent"
          label={texts.colour}
          hint={texts.colourHint}
          value={accent}
          error={errors.accent}
          autoComplete="off"
          maxLength={9}
        />
        <input
          type="color"
          defaultValue={appearance.accent ?? LUNAS_ACCENT}
          aria-label={texts.picker}
          data-picker=""
          hidden
        />
      </div>
      <div className="buttons">
        <button className="button primary wide-button">{texts.saveColour}</button>
        <button className="button wide-button" formMethod="get">
          {texts.preview}
        </button>
      </div>
    </form>
  );
}

function LogoForms({ view, appearance: { logo }, errors }: AppearancePage): ReactElement {
  const texts = APPEARANCE_TEXTS[view.locale.language];
  return (
    <div className="card-body">
      <form className="stack" method="post" action={uploadLogoPath.to(view)} encType="multipart/form-data">
        <Field
          name="logo"
          type="file"
          accept="image/png,image/jpeg,image/webp"
          label={texts.file}
          hint={texts.fileHint}
          value=""
          error={errors.logo}
        />
        <p className="dim">{texts.notice}</p>
        <div className="buttons">
          <button className="button primary wide-button">{texts.upload}</button>
        </div>
      </form>
      {logo && (
        <form className="buttons" method="post" action={removeLogoPath.to(view)}>
          <button className="button danger wide-button">{texts.remove}</button>
        </form>
      )}
    </div>
  );
}
