import { createEndpoint } from '../../../services/webhooks/create-endpoint';
import { renderDeveloperPage } from '../developer-page';
import { memberFormPages } from '../form-pages';
import { endpointFields, EndpointForm } from './endpoint-form';
import { secretPage } from './secret-page';
import { endpointsPath, newEndpointPath } from './webhook-paths';
import { WEBHOOK_TEXTS } from './webhook-texts';

export const newEndpointPages = memberFormPages({
  at: newEndpointPath,
  operation: createEndpoint,
  path: ({ merchant }) => ({ merchant }),
  fields: () => endpointFields,
  errors: ({ locale }) => WEBHOOK_TEXTS[locale.language].form.errors,
  rejections({ locale }) {
    const { errors } = WEBHOOK_TEXTS[locale.language].form;
    return {
      url_not_allowed: ({ rule }) => errors[rule],
      foreign_members: () => errors.foreign_members,
      form_reused: () => errors.form,
    };
  },
  fieldOf: { url_not_allowed: 'url', foreign_members: 'expand' },
  done: ({ id, secret, duplicateOf }, { view }) =>
    secretPage({ view, endpointId: id, secret, oldSecret: null, duplicateOf }),
  render(page) {
    const { form } = WEBHOOK_TEXTS[page.view.locale.language];
    const children = (
      <EndpointForm
        {...page}
        sent={page.sent ?? {}}
        title={form.newTitle}
        action={newEndpointPath.to(page.view)}
        back={endpointsPath.to(page.view)}
        button={form.create}
      />
    );
    return renderDeveloperPage(page.view, { title: form.newTitle, section: 'webhooks', live: 'none', children });
  },
});
