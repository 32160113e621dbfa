import type { ReactElement } from 'react';
import type { EndpointResponse } from '../../../http/endpoint';
import { allowsAddress } from '../../../lib/allowed-networks';
import type { ApiKey, IssuedKey } from '../../../services/merchants/keys/api-key';
import { CopiedText } from '../../ui/copied-text';
import { Card, Facts, Notice, PageHead, type Fact } from '../../ui/layout';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { renderDeveloperPage } from '../developer-page';
import type { FormVisit } from '../form-pages';
import { pageResponse, type MerchantView } from '../merchant-view';
import { DayTime, rightsFacts } from './key-parts';
import { keyPath } from './key-paths';
import { KEY_TEXTS } from './key-texts';

interface IssuedKeyVisit extends FormVisit {
  readonly dependencies: Pick<DashboardDependencies, 'publicBaseUrl'>;
  /** When the key ends that this one replaces; null: it replaces none. */
  readonly oldKeyEndsAt: Date | null;
}

/**
 * The only page with the secret of a key: nothing reads it again. It is the response to the form itself, so that the
 * secret is in no address; a repeat of the form shows that the key exists.
 */
export function issuedKeyPage({ secret, ...issued }: IssuedKey, visit: IssuedKeyVisit): EndpointResponse {
  const { view } = visit;
  const { issued: texts } = KEY_TEXTS[view.locale.language];
  return pageResponse(
    renderDeveloperPage(view, {
      title: secret === null ? texts.exists.title : texts.title,
      section: 'keys',
      live: 'none',
      children:
        secret === null ? (
          <ExistingKey view={view} keyId={issued.id} />
        ) : (
          <NewKey {...visit} issued={issued} secret={secret} />
        ),
    }),
  );
}

interface NewKeyProps extends IssuedKeyVisit {
  readonly issued: ApiKey;
  readonly secret: string;
}

function NewKey({ view, issued, secret, address, oldKeyEndsAt, dependencies }: NewKeyProps): ReactElement {
  const { texts, locale } = view;
  const command = testCommand(secret, issued.scopes, dependencies.publicBaseUrl);
  const isOutside = !allowsAddress(issued.allowedNetworks, address);
  const keyTexts = KEY_TEXTS[locale.language];
  const page = keyTexts.issued;
  const oldKey: Fact[] = oldKeyEndsAt
    ? [{ name: page.oldKey, value: <DayTime at={oldKeyEndsAt} locale={locale} /> }]
    : [];
  return (
    <div className="narrow">
      <PageHead title={page.title} />
      <div className="stack">
        <Notice tone="warning">
          <b>{page.once}</b>
        </Notice>
        <Card title={page.secret}>
          <div className="card-body">
            <CopiedText name={page.secret} value={secret} copy={texts.copy} />
          </div>
        </Card>
        <Card title={page.address}>
          <div className="card-body">
            <CopiedText name={page.address} value={dependencies.publicBaseUrl} copy={texts.copy} />
          </div>
        </Card>
        {command !== null && (
          <Card title={page.test}>
            <div className="card-body">
              <p>{page.testHint}</p>
              <CopiedText name={page.test} value={command} copy={texts.copy} />
            </div>
          </Card>
        )}
        {isOutside && (
          <Notice tone="warning">
            <p>{keyTexts.form.outside(address)}</p>
          </Notice>
        )}
        <Card>
          <Facts
            facts={[
              { name: keyTexts.columns.name, value: issued.name ?? keyTexts.unnamed },
              ...rightsFacts(view, issued),
              ...oldKey,
            ]}
          />
        </Card>
        <div className="buttons">
          <a className="button primary wide-button" href={keyPath.to({ code: view.code, key: issued.id })}>
            {page.done}
          </a>
        </div>
      </div>
    </div>
  );
}

/** The form of a key was sent again. */
function ExistingKey({ view, keyId }: { readonly view: MerchantView; readonly keyId: string }): ReactElement {
  const { exists } = KEY_TEXTS[view.locale.language].issued;
  return (
    <div className="narrow">
      <PageHead title={exists.title} />
      <div className="stack">
        <Notice tone="info">
          <p>{exists.text}</p>
          <p>{exists.lost}</p>
        </Notice>
        <div className="buttons">
          <a className="button primary wide-button" href={keyPath.to({ code: view.code, key: keyId })}>
            {exists.show}
          </a>
        </div>
      </div>
    </div>
  );
}

/** A command that shows whether the key works; null if its scopes allow none that needs no payment. */
function testCommand(secret: string, scopes: ApiKey['scopes'], publicBaseUrl: string): string | null {
  const allows = (scope: 'read' | 'create') => scopes === null || scopes.includes(scope);
  const header = `-H 'Authorization: Bearer ${secret}'`;
  if (allows('read')) return `curl -sS ${publicBaseUrl}/transactions ${header}`;
  if (!allows('create')) return null;
  return `curl -sS ${publicBaseUrl}/payments ${header} -H 'Content-Type: application/json' -d '{"amount":50000}'`;
}
