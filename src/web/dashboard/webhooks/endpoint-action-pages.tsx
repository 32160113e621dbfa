import type { ReactNode } from 'react';
import { z } from 'zod';
import { deleteEndpoint } from '../../../services/webhooks/delete-endpoint';
import { disableEndpoint } from '../../../services/webhooks/disable-endpoint';
import { enableEndpoint } from '../../../services/webhooks/enable-endpoint';
import { ConfirmPage } from '../../ui/confirm-page';
import { renderDeveloperPage } from '../developer-page';
import { memberFormPages, type FormPage } from '../form-pages';
import type { MerchantView } from '../merchant-view';
import { endpointFacts, originOf, type ShownEndpoint } from './endpoint-parts';
import { ENDPOINT_ACTION_PATHS, endpointPath, endpointsPath } from './webhook-paths';
import { WEBHOOK_TEXTS } from './webhook-texts';

/** What the pages of an action have in common. */
const pagesOf = (action: 'disable' | 'enable' | 'delete') => ({
  at: ENDPOINT_ACTION_PATHS[action],
  path: ({ endpoint }: { readonly endpoint: string }) => ({ endpoint }),
  fields: () => z.object({}),
  errors: ({ locale }: MerchantView) => WEBHOOK_TEXTS[locale.language].form.errors,
  render: (page: FormPage<ShownEndpoint>) => endpointConfirm({ ...page, action }),
});

/** For each action on an endpoint a page with one button, and what the button does. */
export const endpointActionPages = [
  ...memberFormPages({
    ...pagesOf('enable'),
    operation: enableEndpoint,
    rejections: ({ locale }) => ({ enabled: () => WEBHOOK_TEXTS[locale.language].rejections.enabled }),
    done: ({ id }, { view: { code } }) => endpointPath.to({ code, endpoint: id }, { done: 'enabled' }),
  }),
  ...memberFormPages({
    ...pagesOf('disable'),
    operation: disableEndpoint,
    rejections: ({ locale }) => ({ disabled: () => WEBHOOK_TEXTS[locale.language].rejections.disabled }),
    done: ({ id }, { view: { code } }) => endpointPath.to({ code, endpoint: id }, { done: 'disabled' }),
  }),
  ...memberFormPages({
    ...pagesOf('delete'),
    operation: deleteEndpoint,
    rejections: () => ({}),
    done: (_, { view }) => endpointsPath.to(view, { done: 'deleted' }),
  }),
];

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
