import type { ReactElement } from 'react';
import { Html, Method, renderFrame, type MenuGroup } from './frame';
import type { Field } from './openapi-document';
import { TryIt, type TryItProps } from './try-it';

export interface CodeBlock {
  readonly name: string;
  /** Highlighted. */
  readonly html: string;
}

/** One operation, as its page shows it. Texts are HTML. */
export interface OperationView {
  readonly path: string;
  readonly title: string;
  readonly method: 'GET' | 'POST';
  /** The one that a program calls: `/payments/{id}`. */
  readonly address: string;
  readonly description: string;
  /** The fields of the request, then those of the response. */
  readonly groups: readonly FieldGroup[];
  readonly headers: readonly { readonly name: string; readonly description: string }[];
  readonly errors: readonly { readonly status: string; readonly codes: string }[];
  readonly samples: readonly CodeBlock[];
  readonly responses: readonly CodeBlock[];
  readonly request: TryItProps;
}

export interface FieldGroup {
  readonly title: string;
  readonly fields: readonly Field[];
}

interface OperationPageProps {
  readonly view: OperationView;
  readonly menu: readonly MenuGroup[];
  /** In the sandbox a reader can send the request from the page. */
  readonly canTry: boolean;
}

export function renderOperationPage({ view, menu, canTry }: OperationPageProps): string {
  return renderFrame({
    title: view.title,
    path: view.path,
    menu,
    children: (
      <div className="operation">
        <article>
          <h1>{view.title}</h1>
          <p className="address">
            <Method method={view.method} /> <code>{view.address}</code>
          </p>
          <Html className="prose" html={view.description} />
          {view.groups.map((group) => (
            <FieldSection key={group.title} {...group} />
          ))}
          <Headers headers={view.headers} />
          <Errors errors={view.errors} />
        </article>
        <aside aria-label="Samples">
          <Samples title="Request" blocks={view.samples} />
          {canTry && <TryIt {...view.request} />}
          {view.responses.map(({ name, html }) => (
            <section key={name}>
              <h2>Response: {name}</h2>
              <Html html={html} />
            </section>
          ))}
        </aside>
      </div>
    ),
  });
}

/** The script shows one of the blocks, and a tab for each. */
function Samples({ title, blocks }: { readonly title: string; readonly blocks: readonly CodeBlock[] }): ReactElement {
  return (
    <section>
      <h2>{title}</h2>
      <div data-tabs={title}>
        {blocks.map(({ name, html }) => (
          <div key={name} data-tab={name}>
            <h3>{name}</h3>
            <Html html={html} />
          </div>
        ))}
      </div>
    </section>
  );
}

export const anchorOf = (title: string) => title.toLowerCase().replaceAll(/[^a-z]+/g, '-');

export function FieldSection({ title, fields }: FieldGroup): ReactElement | null {
  if (fields.length === 0) return null;
  return (
    <section>
      <h2 id={anchorOf(title)}>{title}</h2>
      <Fields fields={fields} />
    </section>
  );
}

export function Fields({ fields }: { readonly fields: readonly Field[] }): ReactElement {
  return (
    <ul className="fields">
      {fields.map((field) => (
        <li key={field.name}>
          <p>
            <code className="name">{field.name}</code>
            <span className="dim small">{field.type}</span>
            {field.isRequired && <span className="required small">required</span>}
          </p>
          {field.description !== '' && <Html className="prose" html={field.description} />}
          <Limits {...field} />
          {field.fields.length > 0 && (
            <details open={fields.length === 1}>
              <summary>Fields of {field.name}</summary>
              <Fields fields={field.fields} />
            </details>
          )}
        </li>
      ))}
    </ul>
  );
}

function Limits({ limits, values }: Field): ReactElement | null {
  if (limits === '' && values.length === 0) return null;
  return (
    <p className="limits small">
      {limits}
      {limits !== '' && values.length > 0 && ' · '}
      {values.map((value) => (
        <code key={value}>{value}</code>
      ))}
    </p>
  );
}

function Headers({ headers }: Pick<OperationView, 'headers'>): ReactElement {
  return (
    <section>
      <h2 id="response-headers">Response headers</h2>
      <dl className="headers">
        {headers.map(({ name, description }) => (
          <div key={name}>
            <dt>
              <code>{name}</code>
            </dt>
            <dd>
              <Html className="prose" html={description} />
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function Errors({ errors }: Pick<OperationView, 'errors'>): ReactElement {
  return (
    <section>
      <h2 id="errors">Errors</h2>
      <dl className="headers">
        {errors.map(({ status, codes }) => (
          <div key={status}>
            <dt>
              <code>{status}</code>
            </dt>
            <dd>
              <Html className="prose" html={codes} />
            </dd>
          </div>
        ))}
      </dl>
      <p>
        <a href="/docs/api#errors">What each code means, and whether to repeat the request</a>
      </p>
    </section>
  );
}
