import type { ReactElement } from 'react';
import type { EndpointResponse } from '../../../http/endpoint';
import { CopiedText } from '../../ui/copied-text';
import { Card, Notice, PageHead } from '../../ui/layout';
import { Time } from '../../ui/values';
import { renderDeveloperPage } from '../developer-page';
import { pageResponse, type MerchantView } from '../merchant-view';
import { endpointPath } from './webhook-paths';
import { WEBHOOK_TEXTS } from './webhook-texts';

/** The calls of docs/webhooks.md. */
const VERIFY = `import { createHmac, timingSafeEqual } from 'node:crypto';

// rawBody: the bytes as received. header: X-Service-Signature.
function isAuthentic(rawBody, header, secret) {
  const [time, ...signatures] = header.split(',');
  const at = time.slice('t='.length);
  if (Math.abs(Date.now() / 1000 - Number(at)) > 300) return false;
  const hex = createHmac('sha256', secret).update(at + '.' + rawBody).digest('hex');
  const expected = Buffer.from('v1=' + hex);
  return signatures.some((one) => {
    const given = Buffer.from(one);
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}`;

interface SecretPage {
  readonly view: MerchantView;
  readonly endpointId: string;
  /** Null: the form was sent before. */
  readonly secret: string | null;
  /** Until when the old secret signs too; `ended`: no more; null: there was none. */
  readonly oldSecret: Date | 'ended' | null;
  /** An enabled endpoint with the same URL as this new one; null: there is none. */
  readonly duplicateOf: string | null;
}

/** The only page with the secret of an endpoint: nothing reads it again. It is the response to the form itself. */
export function secretPage(page: SecretPage): EndpointResponse {
  const { view } = page;
  const { title } = WEBHOOK_TEXTS[view.locale.language].secret;
  return pageResponse(
    renderDeveloperPage(view, { title, section: 'webhooks', live: 'none', children: <Secret {...page} /> }),
  );
}

function Secret({ view, endpointId, secret, oldSecret, duplicateOf }: SecretPage): ReactElement {
  const texts = WEBHOOK_TEXTS[view.locale.language].secret;
  return (
    <div className="narrow">
      <PageHead title={texts.title} />
      <div className="stack">
        <Notice tone={secret === null ? 'info' : 'warning'}>
          <p>{secret === null ? texts.exists : texts.once}</p>
        </Notice>
        {duplicateOf !== null && (
          <Notice tone="warning">
            <p>
              {texts.duplicate}{' '}
              <a href={endpointPath.to({ code: view.code, endpoint: duplicateOf })}>{texts.showDuplicate}</a>
            </p>
          </Notice>
        )}
        {secret !== null && (
          <>
            <Card title={texts.name}>
              <div className="card-body">
                <CopiedText name={texts.name} value={secret} copy={view.texts.copy} />
                {oldSecret === 'ended' && <p>{texts.oldEnded}</p>}
                {oldSecret instanceof Date && (
                  <p>
                    {texts.oldEnds} <Time at={oldSecret} style="full" locale={view.locale} />
                  </p>
                )}
              </div>
            </Card>
            <Card title={texts.verify}>
              <div className="card-body">
                <CopiedText name={texts.verify} value={VERIFY} copy={view.texts.copy} />
              </div>
            </Card>
          </>
        )}
        <div className="buttons">
          <a className="button primary wide-button" href={endpointPath.to({ code: view.code, endpoint: endpointId })}>
            {texts.done}
          </a>
        </div>
      </div>
    </div>
  );
}
