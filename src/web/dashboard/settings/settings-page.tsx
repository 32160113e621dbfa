import type { ReactElement } from 'react';
import type { FeePayer } from '../../../domain/fees';
import type { SettlementKind } from '../../../domain/payment';
import type { ShownName } from '../../../services/merchants/settings';
import { Card, DoneNotice, Facts, PageHead } from '../../ui/layout';
import { Table } from '../../ui/table';
import { renderMerchantPage } from '../merchant-page';
import type { MerchantView } from '../merchant-view';
import { APPEARANCE_TEXTS } from './appearance-texts';
import { CheckoutSample, type ShownAppearance } from './checkout-sample';
import { IdentityCard, type ShownIdentity } from './identity-card';
import { appearancePath, editSettingsPath } from './settings-paths';
import { SETTINGS_TEXTS } from './settings-texts';

/** What a new payment with this provider gets. */
export interface ShownTerms {
  readonly provider: string;
  readonly fee: string;
  /** In words. */
  readonly expiresIn: string;
  readonly settlement: SettlementKind;
  /** Null: none. */
  readonly delay: string | null;
}

export interface ShownSettings {
  readonly code: string;
  readonly feePayer: FeePayer;
  readonly providers: readonly string[];
  readonly returnUrl: string | null;
  readonly contact: string | null;
  readonly checkoutOrigins: readonly string[];
}

interface SettingsPage {
  readonly view: MerchantView;
  readonly settings: ShownSettings;
  readonly appearance: ShownAppearance;
  /** Null: it is not known. */
  readonly identity: ShownIdentity | null;
  readonly shownNames: readonly ShownName[];
  readonly terms: readonly ShownTerms[];
  readonly mayEdit: boolean;
  readonly mayChangeLook: boolean;
  readonly isSaved: boolean;
}

export function renderSettingsPage(page: SettingsPage): string {
  const { title } = SETTINGS_TEXTS[page.view.locale.language];
  return renderMerchantPage(page.view, { title, current: 'settings', live: 'none', children: <Settings {...page} /> });
}

function Settings(page: SettingsPage): ReactElement {
  const { view, settings, appearance, identity, shownNames, terms, mayEdit, mayChangeLook, isSaved } = page;
  const texts = SETTINGS_TEXTS[view.locale.language];
  const look = APPEARANCE_TEXTS[view.locale.language];
  return (
    <div className="narrow">
      <PageHead title={texts.title} />
      <div className="stack">
        <DoneNotice text={isSaved && texts.saved} />
        <Card title={mayEdit ? texts.own : texts.ownOfOthers}>
          <OwnSettings view={view} settings={settings} />
          {mayEdit && (
            <div className="card-body buttons">
              <a className="button wide-button" href={editSettingsPath.to(view)}>
                {texts.edit}
              </a>
            </div>
          )}
        </Card>
        <IdentityCard language={view.locale.language} identity={identity} shownNames={shownNames} />
        <Card title={look.title}>
          <div className="card-body">
            <CheckoutSample view={view} appearance={appearance} />
            {mayChangeLook && (
              <div className="buttons">
                <a className="button wide-button" href={appearancePath.to(view)}>
                  {look.change}
                </a>
              </div>
            )}
          </div>
        </Card>
        <Card title={texts.byLunas}>
          <Facts
            facts={[
              { name: texts.facts.name, value: view.merchantName },
              { name: texts.facts.code, value: <code>{settings.code}</code> },
              { name: texts.facts.payer, value: texts.payers[settings.feePayer] },
              { name: texts.facts.providers, value: settings.providers.join(', ') },
            ]}
          />
        </Card>
        <Terms view={view} terms={terms} />
      </div>
    </div>
  );
}

function Terms({ view: { locale }, terms }: Pick<SettingsPage, 'view' | 'terms'>): ReactElement {
  const texts = SETTINGS_TEXTS[locale.language];
  const { termColumns: columns } = texts;
  return (
    <Card title={texts.terms}>
      <Table<ShownTerms>
        caption={texts.terms}
        columns={[
          { title: columns.provider, narrow: 'first', className: 'strong', cell: ({ provider }) => provider },
          { title: columns.fee, narrow: 'first-end', cell: ({ fee }) => fee },
          {
            title: columns.settlement,
            narrow: 'second',
            cell: ({ settlement, delay }) => texts.settlements[settlement](delay),
          },
          {
            title: columns.expiry,
            narrow: 'second-end',
            cell: ({ expiresIn }) => texts.expiresAfter(expiresIn),
          },
        ]}
        rows={terms}
        keyOf={({ provider }) => provider}
        empty={<p className="card-body">{texts.noTerms}</p>}
      />
      <p className="card-body dim">{texts.termsHint}</p>
    </Card>
  );
}

function OwnSettings({ view: { locale }, settings }: Pick<SettingsPage, 'view' | 'settings'>): ReactElement {
  const texts = SETTINGS_TEXTS[locale.language];
  const { returnUrl, contact, checkoutOrigins } = settings;
  return (
    <Facts
      facts={[
        { name: texts.zone, value: texts.zones[locale.zone] },
        { name: texts.contact, value: <span className="breakable">{contact ?? texts.none}</span> },
        { name: texts.returnUrl, value: <span className="breakable">{returnUrl ?? texts.none}</span> },
        {
          name: texts.origins,
          value: <span className="breakable">{checkoutOrigins.join(' ') || texts.none}</span>,
        },
      ]}
    />
  );
}
