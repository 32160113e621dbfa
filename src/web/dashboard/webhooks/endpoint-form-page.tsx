import type { ReactElement } from 'react';
import { EVENT_GROUP_NAMES, EVENT_GROUPS, type EventGroup } from '../../../domain/events';
import { EXPANSIONS, scopesOfExpansions } from '../../../domain/expansions';
import type { FieldErrors, SentFields } from '../../page/read-form';
import { Choices } from '../../ui/choices';
import { Field } from '../../ui/form';
import { FormFrame } from '../../ui/form-frame';
import { renderDeveloperPage } from '../developer-page';
import type { MerchantView } from '../merchant-view';
import { eventField, expansionField } from './endpoint-fields';
import { WEBHOOK_TEXTS } from './webhook-texts';

interface EndpointFormPage {
  readonly view: MerchantView;
  /** Null: a new endpoint. */
  readonly endpointId: string | null;
  readonly formId: string;
  readonly rejection: string | null;
  readonly sent: SentFields;
  readonly errors: FieldErrors;
}

export function renderEndpointFormPage(page: EndpointFormPage): string {
  const { form } = WEBHOOK_TEXTS[page.view.locale.language];
  const title = page.endpointId === null ? form.newTitle : form.editTitle;
  return renderDeveloperPage(page.view, {
    title,
    section: 'webhooks',
    live: 'none',
    children: <EndpointForm {...page} title={title} />,
  });
}

function EndpointForm(page: EndpointFormPage & { readonly title: string }): ReactElement {
  const { view, endpointId, rejection, errors } = page;
  const { form, title } = WEBHOOK_TEXTS[view.locale.language];
  const { paths } = view;
  const back = endpointId === null ? paths.webhooks : paths.webhook(endpointId);
  return (
    <FormFrame
      title={page.title}
      back={{ href: back, label: title }}
      rejection={rejection}
      errorTitle={form.errorTitle}
      errors={errors}
    >
      <form
        className="card-body"
        method="post"
        action={endpointId === null ? paths.newWebhook : paths.webhookAction(endpointId, 'edit')}
      >
        <Fields {...page} />
        <div className="buttons">
          <button className="button primary wide-button" disabled={rejection !== null}>
            {endpointId === null ? form.create : form.save}
          </button>
          <a className="button wide-button" href={back}>
            {form.cancel}
          </a>
        </div>
      </form>
    </FormFrame>
  );
}

function Fields({ view, formId, sent, errors }: EndpointFormPage): ReactElement {
  const { form } = WEBHOOK_TEXTS[view.locale.language];
  const scope = sent.scope ?? 'all';
  const scopes = (['all', 'listed'] as const).map((name) => ({
    name,
    label: form.scopes[name],
    isChosen: name === scope,
  }));
  return (
    <>
      <input type="hidden" name="form_id" value={formId} />
      <Field
        name="url"
        type="url"
        label={form.url}
        hint={form.urlHint}
        value={sent.url ?? ''}
        error={errors.url}
        autoComplete="off"
        maxLength={2_048}
        required
      />
      <Choices name="scope" kind="radio" label={form.scope} choices={scopes} />
      {EVENT_GROUP_NAMES.map((group, index) => (
        <Choices
          key={group}
          name={index === 0 ? 'events' : `events-${group}`}
          kind="checkbox"
          label={form.groups[group]}
          choices={choicesOf(group, sent)}
          error={index === 0 ? errors.events : undefined}
        />
      ))}
      <Choices
        name="expand"
        kind="checkbox"
        label={form.expand}
        hint={form.expandHint}
        choices={EXPANSIONS.map((name) => ({
          name: expansionField(name),
          label: name,
          isChosen: sent[expansionField(name)] !== undefined,
          rejection: view.scopesRejection(scopesOfExpansions([name])),
        }))}
        error={errors.expand}
      />
    </>
  );
}

function choicesOf(group: EventGroup, sent: SentFields) {
  return EVENT_GROUPS[group].map((event) => ({
    name: eventField(event),
    label: event,
    isChosen: sent[eventField(event)] !== undefined,
  }));
}
