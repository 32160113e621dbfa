import { setEndpoint } from '../../../services/webhooks/set-endpoint';
import { renderDeveloperPage } from '../developer-page';
import { memberFormPages } from '../form-pages';
import { endpointFields, EndpointForm, fieldsOf } from './endpoint-form';
import { ENDPOINT_ACTION_PATHS, endpointPath } from './webhook-paths';
import { WEBHOOK_TEXTS } from './webhook-texts';

export const editEndpointPages = memberFormPages({
  at: ENDPOINT_ACTION_PATHS.edit,
  operation: setEndpoint,
  path: ({ endpoint }) => ({ endpoint }),
  fields: () => endpointFields,
  errors: ({ locale }) => WEBHOOK_TEXTS[locale.language].form.errors,
  rejections({ locale, onlyRoles }) {
    const { errors } = WEBHOOK_TEXTS[locale.language].form;
    return {
      foreign_scopes: ({ roles }) => onlyRoles(roles),
      foreign_members: () => errors.foreign_members,
      url_not_allowed: ({ rule }) => errors[rule],
    };
  },
  fieldOf: { url_not_allowed: 'url', foreign_members: 'expand' },
  done: ({ id }, { view: { code } }) => endpointPath.to({ code, endpoint: id }, { done: 'saved' }),
  render(page) {
    const { form } = WEBHOOK_TEXTS[page.view.locale.language];
    const path = { code: page.view.code, endpoint: page.subject.id };
    const children = (
      <EndpointForm
        {...page}
        sent={page.sent ?? fieldsOf(page.subject)}
        title={form.editTitle}
        action={ENDPOINT_ACTION_PATHS.edit.to(path)}
        back={endpointPath.to(path)}
        button={form.save}
      />
    );
    return renderDeveloperPage(page.view, { title: form.editTitle, section: 'webhooks', live: 'none', children });
  },
});
