import type { ReactNode } from 'react';
import { ConfirmPage } from '../../ui/confirm-page';
import { renderDeveloperPage } from '../developer-page';
import type { MerchantView } from '../merchant-view';
import { endpointFacts, originOf, type ShownEndpoint } from './endpoint-parts';
import { ENDPOINT_ACTION_PATHS, endpointPath } from './webhook-paths';
import { WEBHOOK_TEXTS } from './webhook-texts';

interface EndpointConfirm {
  readonly view: MerchantView;
  readonly subject: ShownEndpoint;
  readonly action: 'ping' | 'disable' | 'enable' | 'delete';
  readonly formId: string;
  readonly rejection: string | null;
  /** What stands above the question. */
  readonly above?: ReactNode;
}

/** The page with the button of an action on an endpoint, as HTML. */
export function endpointConfirm({ view, subject, action, formId, rejection, above }: EndpointConfirm): string {
  const { confirm, form } = WEBHOOK_TEXTS[view.locale.language];
  const { title, text, button } = confirm[action];
  const path = { code: view.code, endpoint: subject.id };
  const children = (
    <ConfirmPage
      title={title}
      back={{ href: endpointPath.to(path), label: originOf(subject.url) }}
      facts={endpointFacts(view, subject)}
      explanation={text}
      action={ENDPOINT_ACTION_PATHS[action].to(path)}
      button={button}
      cancel={form.cancel}
      tone={action === 'delete' || action === 'disable' ? 'danger' : 'primary'}
      fields={{ form_id: formId }}
      rejection={rejection}
    >
      {above}
    </ConfirmPage>
  );
  return renderDeveloperPage(view, { title, section: 'webhooks', live: 'none', children });
}
