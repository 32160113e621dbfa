import { randomUUID } from 'node:crypto';
import type { ReactElement } from 'react';
import { z } from 'zod';
import type { PingReport } from '../../../domain/ping-report';
import { pingEndpoint } from '../../../services/webhooks/ping-endpoint';
import { Card, Facts, Notice } from '../../ui/layout';
import { memberFormPages } from '../form-pages';
import { pageResponse, type MerchantView } from '../merchant-view';
import { endpointConfirm } from './endpoint-action-pages';
import { ENDPOINT_ACTION_PATHS } from './webhook-paths';
import { WEBHOOK_TEXTS } from './webhook-texts';

/** The page after a ping has its result, and the button for another one. */
export const pingEndpointPages = memberFormPages({
  at: ENDPOINT_ACTION_PATHS.ping,
  operation: pingEndpoint,
  path: ({ endpoint }) => ({ endpoint }),
  fields: () => z.object({}),
  errors: ({ locale }) => WEBHOOK_TEXTS[locale.language].form.errors,
  rejections: () => ({}),
  unknown({ locale }) {
    const { rejections } = WEBHOOK_TEXTS[locale.language];
    return { late: rejections.slowPing, other: rejections.ping };
  },
  done({ ping, endpoint }, { view }) {
    const above = <PingResult view={view} ping={ping} />;
    const next = { formId: randomUUID(), rejection: null };
    return pageResponse(endpointConfirm({ view, subject: endpoint, action: 'ping', ...next, above }));
  },
  render: (page) => endpointConfirm({ ...page, action: 'ping' }),
});

function PingResult({ view, ping }: { readonly view: MerchantView; readonly ping: PingReport }): ReactElement {
  const texts = WEBHOOK_TEXTS[view.locale.language].ping;
  const { failure, statusCode, durationMs, responseExcerpt } = ping;
  return (
    <>
      <Notice tone={failure === null ? 'good' : 'bad'}>
        <p>{failure === null ? texts.delivered : texts.failed}</p>
      </Notice>
      <Card>
        <Facts
          facts={[
            { name: texts.status, value: statusCode ?? texts.none },
            { name: texts.duration, value: `${durationMs} ms` },
            ...(failure === null ? [] : [{ name: texts.failure, value: failure }]),
            {
              name: texts.response,
              value: (
                <code className="breakable">
                  {responseExcerpt === null || responseExcerpt === '' ? '–' : responseExcerpt}
                </code>
              ),
            },
          ]}
        />
      </Card>
    </>
  );
}
