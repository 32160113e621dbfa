import type { ReactElement } from 'react';
import { Contents, Html, renderFrame, type MenuGroup } from './frame';
import type { Field } from './openapi-document';
import { anchorOf, Fields, FieldSection, type FieldGroup } from './operation-page';

/** The webhooks that have the same body. */
export interface WebhookKind extends FieldGroup {
  readonly events: readonly { readonly name: string; readonly summary: string }[];
  /** An example. */
  readonly example: string;
}

interface EventsPageProps {
  readonly kinds: readonly WebhookKind[];
  readonly headers: readonly Field[];
  readonly menu: readonly MenuGroup[];
}

export function renderEventsPage({ kinds, headers, menu }: EventsPageProps): string {
  return renderFrame({
    title: 'Webhook events',
    path: '/docs/api/events',
    menu,
    children: (
      <div className="reading">
        <article>
          <h1>Webhook events</h1>
          <p>
            Lunas sends each event with <code>POST</code> to the addresses that you have registered.{' '}
            <a href="/docs/webhooks">Webhooks</a> has the rules for receivers.
          </p>
          {kinds.map((kind) => (
            <EventKind key={kind.title} {...kind} />
          ))}
          <FieldSection title="Headers" fields={headers} />
        </article>
        <Contents headings={[...kinds, { title: 'Headers' }].map(({ title }) => ({ id: anchorOf(title), title }))} />
      </div>
    ),
  });
}

function EventKind({ title, events, fields, example }: WebhookKind): ReactElement {
  return (
    <section>
      <h2 id={anchorOf(title)}>{title}</h2>
      <dl className="headers">
        {events.map(({ name, summary }) => (
          <div key={name}>
            <dt>
              <code>{name}</code>
            </dt>
            <dd>{summary}</dd>
          </div>
        ))}
      </dl>
      <Html html={example} />
      <details>
        <summary>Fields</summary>
        <Fields fields={fields} />
      </details>
    </section>
  );
}
