import type { ReactElement } from 'react';
import { z } from 'zod';
import {
  EVENT_GROUP_NAMES,
  EVENT_GROUPS,
  WEBHOOK_EVENTS,
  type EventGroup,
  type WebhookEvent,
} from '../../../domain/events';
import { scopesOfExpansions, WEBHOOK_EXPANSIONS, type WebhookExpansion } from '../../../domain/expansions';
import type { Language } from '../../../domain/sign-in';
import type { FormAttributes } from '../../page/field-attributes';
import type { FieldErrors, SentFields } from '../../page/read-form';
import { sentField } from '../../page/sent-field';
import { Choices } from '../../ui/choices';
import { Field } from '../../ui/form';
import { FormButtons, FormFrame } from '../../ui/form-frame';
import type { MerchantView } from '../merchant-view';
import { WEBHOOK_TEXTS } from './webhook-texts';

const MAX_URL_CHARACTERS = 2_048;

/** The checkbox of an event. */
const eventField = (event: WebhookEvent): string => event.replace('.', '_');

/** The checkbox of a member that the endpoint adds. */
const expansionField = (name: WebhookExpansion): string => `expand_${name}`;

const fields = z.object({
  url: z.string({ error: 'url' }).max(MAX_URL_CHARACTERS, { error: 'url' }),
  events: z.array(z.enum(WEBHOOK_EVENTS), { error: 'events' }),
  expand: z.array(z.enum(WEBHOOK_EXPANSIONS)),
});

/** The fields of an endpoint. The checkboxes of the events are one field, as are those of the added members. */
export const endpointFields = z.preprocess((sent) => {
  const { url, scope, ...boxes } = z.record(z.string(), z.unknown()).parse(sent);
  const listed = WEBHOOK_EVENTS.filter((event) => boxes[eventField(event)] !== undefined);
  const isListed = scope === 'listed' && listed.length > 0;
  return {
    url,
    // Empty: every event of payments.
    events: scope === 'all' ? [] : isListed ? listed : undefined,
    expand: WEBHOOK_EXPANSIONS.filter((name) => boxes[expansionField(name)] !== undefined),
  };
}, fields);

interface StoredEndpoint {
  readonly url: string;
  /** Null: every event of payments. */
  readonly events: readonly WebhookEvent[] | null;
  readonly expand: readonly WebhookExpansion[];
}

/** The fields of an endpoint as it is stored. */
export function fieldsOf({ url, events, expand }: StoredEndpoint): SentFields {
  const chosen = [...(events ?? []).map(eventField), ...expand.map(expansionField)].map((name) => [name, 'on']);
  return { url, scope: events === null ? 'all' : 'listed', ...Object.fromEntries(chosen) };
}

interface EndpointFormProps {
  readonly view: MerchantView;
  readonly title: string;
  /** The path of the form, and of the page before it. */
  readonly action: string;
  readonly back: string;
  readonly button: string;
  readonly formId: string;
  readonly rejection: string | null;
  readonly sent: SentFields;
  readonly errors: FieldErrors;
  readonly attributes: FormAttributes;
}

/** The form of a new endpoint, and of one that is changed. */
export function EndpointForm(page: EndpointFormProps): ReactElement {
  const { view, title, action, back, button, formId, rejection, errors } = page;
  const { form, title: endpoints } = WEBHOOK_TEXTS[view.locale.language];
  return (
    <FormFrame
      title={title}
      back={{ href: back, label: endpoints }}
      rejection={rejection}
      errorTitle={form.errorTitle}
      errors={errors}
    >
      <form className="card-body" method="post" action={action}>
        <input type="hidden" name="form_id" value={formId} />
        <Fields {...page} />
        <FormButtons label={button} cancel={form.cancel} back={back} isDisabled={rejection !== null} />
      </form>
    </FormFrame>
  );
}

function Fields(page: EndpointFormProps): ReactElement {
  const { view, sent, errors } = page;
  const { form } = WEBHOOK_TEXTS[view.locale.language];
  const scope = sent.scope ?? 'all';
  const scopes = (['all', 'listed'] as const).map((name) => ({
    name,
    label: form.scopes[name],
    isChosen: name === scope,
    details:
      name === 'listed' ? <Events language={view.locale.language} sent={sent} error={errors.events} /> : undefined,
  }));
  const expansions = WEBHOOK_EXPANSIONS.map((name) => ({
    name: expansionField(name),
    label: name,
    isChosen: sent[expansionField(name)] !== undefined,
    rejection: view.scopesRejection(scopesOfExpansions([name])),
  }));
  return (
    <>
      <Field {...sentField('url', page)} type="url" label={form.url} hint={form.urlHint} autoComplete="off" />
      <Choices name="scope" kind="radio" label={form.scope} choices={scopes} />
      <Choices
        name="expand"
        kind="checkbox"
        label={form.expand}
        hint={form.expandHint}
        choices={expansions}
        error={errors.expand}
      />
    </>
  );
}

interface EventsProps {
  readonly language: Language;
  readonly sent: SentFields;
  readonly error: string | undefined;
}

/** The events by their groups. The error of all stands at the first. */
function Events({ language, sent, error }: EventsProps): ReactElement {
  const { groups } = WEBHOOK_TEXTS[language].form;
  return (
    <>
      {EVENT_GROUP_NAMES.map((group, index) => (
        <Choices
          key={group}
          name={index === 0 ? 'events' : `events-${group}`}
          kind="checkbox"
          label={groups[group]}
          choices={choicesOf(group, sent)}
          error={index === 0 ? error : undefined}
        />
      ))}
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
