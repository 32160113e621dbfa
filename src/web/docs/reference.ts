import type { WebhookKind } from './events-page';
import { renderCode, renderMarkdown } from './markdown';
import { alternativesOf, fieldOf, type ApiOperation, type Field, type OpenapiDocument } from './openapi-document';
import type { CodeBlock, FieldGroup, OperationView } from './operation-page';
import { samplesOf } from './samples';
import type { TryItProps } from './try-it';

type Headers = OpenapiDocument['components']['headers'];

/** `createPayment` is at `/docs/api/create-payment`. */
export const operationPath = ({ operationId }: ApiOperation): string =>
  `/docs/api/${operationId.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

const html = (markdown: string) => renderMarkdown(markdown).html;

function triedRequest({ method, path, parameters, requestBody }: ApiOperation): TryItProps {
  const [example] = Object.values(requestBody?.content['application/json'].examples ?? {});
  return {
    method,
    address: path,
    parameters: parameters.map(({ name, in: location, required }) => ({ name, in: location, isRequired: required })),
    body: example ? JSON.stringify(example.value, null, 2) : null,
  };
}

export function viewOperation(operation: ApiOperation, document: OpenapiDocument): OperationView {
  const { headers } = document.components;
  const success = successOf(operation);
  return {
    path: operationPath(operation),
    title: operation.summary,
    method: operation.method,
    address: operation.path,
    description: html(operation.description),
    groups: fieldGroups(operation, document).map(viewGroup),
    headers: Object.keys(success?.headers ?? {}).map((name) => describeHeader(name, headers)),
    errors: Object.entries(operation.responses)
      .filter(([status]) => !status.startsWith('2'))
      .map(([status, { description }]) => ({ status, codes: html(description) })),
    samples: samplesOf(operation).map(({ name, code, highlighting }) => ({
      name,
      html: renderCode(code, highlighting),
    })),
    responses: Object.entries(success?.content?.['application/json'].examples ?? {}).map(([name, { value }]) =>
      jsonBlock(name, value),
    ),
    request: triedRequest(operation),
  };
}

const jsonBlock = (name: string, value: unknown): CodeBlock => ({
  name,
  html: renderCode(JSON.stringify(value, null, 2), 'json'),
});

const GROUP_TITLES = { path: 'Path', query: 'Query', header: 'Request headers' } as const;

function parameterGroups({ parameters }: ApiOperation, { components }: OpenapiDocument): FieldGroup[] {
  const locations = ['path', 'query', 'header'] as const;
  return locations.map((location) => ({
    title: GROUP_TITLES[location],
    fields: parameters
      .filter((parameter) => parameter.in === location)
      .map(({ name, description, schema, required }) =>
        fieldOf(name, { ...schema, description }, required, components.schemas),
      ),
  }));
}

function bodiesOf({ requestBody }: ApiOperation, { components }: OpenapiDocument): FieldGroup[] {
  if (!requestBody) return [];
  return alternativesOf(requestBody.content['application/json'].schema, components.schemas).map(
    ({ title, fields }) => ({ title: `Body: ${title}`, fields }),
  );
}

const successOf = ({ responses }: ApiOperation) =>
  Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1];

function responseBodiesOf(operation: ApiOperation, { components }: OpenapiDocument): FieldGroup[] {
  const content = successOf(operation)?.content?.['application/json'];
  return (content ? alternativesOf(content.schema, components.schemas) : []).map(({ title, fields }) => ({
    title: title === '' ? 'Response' : `Response: ${title}`,
    fields: fields.map(sentField),
  }));
}

/** The parts of its page that list fields, in Markdown. */
export function fieldGroups(operation: ApiOperation, document: OpenapiDocument): FieldGroup[] {
  const groups = [
    ...parameterGroups(operation, document),
    ...bodiesOf(operation, document),
    ...responseBodiesOf(operation, document),
  ];
  return groups.filter(({ fields }) => fields.length > 0);
}

const viewGroup = ({ title, fields }: FieldGroup): FieldGroup => ({ title, fields: fields.map(withHtml) });

function withHtml(field: Field): Field {
  return { ...field, description: html(field.description), fields: field.fields.map(withHtml) };
}

/** A field that Lunas sends: whether it is required is of no interest to the reader. */
function sentField(field: Field): Field {
  return { ...field, isRequired: false, fields: field.fields.map(sentField) };
}

function describeHeader(name: string, headers: Headers) {
  return { name, description: html(headers[name]?.description ?? '') };
}

const KIND_TITLES: Readonly<Record<string, string>> = {
  WebhookEvent: 'Payments',
  LatePaymentEvent: 'Late payments',
  PayoutEvent: 'Payouts',
  InvoiceEvent: 'Invoices',
};

/** The events, by the schema of their body. Texts of fields are Markdown. */
export function webhookKinds({ webhooks, components }: OpenapiDocument): WebhookKind[] {
  const entries = Object.entries(webhooks).map(
    ([
      name,
      {
        post: { summary, requestBody },
      },
    ]) => ({ name, summary, requestBody }),
  );
  const schemas = [...new Set(entries.map(schemaName))];
  return schemas.map((schema) => {
    const events = entries.filter((entry) => schemaName(entry) === schema);
    const example = events.findLast(({ name }) => EXAMPLE_EVENTS.has(name)) ?? events[0];
    const [content] = Object.values(example?.requestBody.content['application/json'].examples ?? {});
    return {
      title: KIND_TITLES[schema] ?? schema,
      events: events.map(({ name, summary }) => ({ name, summary })),
      fields: (alternativesOf({ $ref: schema, required: [] }, components.schemas)[0]?.fields ?? []).map(sentField),
      example: jsonBlock(schema, content?.value).html,
    };
  });
}

export const viewKind = (kind: WebhookKind): WebhookKind => ({ ...kind, ...viewGroup(kind) });

const EXAMPLE_EVENTS: ReadonlySet<string> = new Set(['payment.paid', 'payout.completed']);

type Webhook = OpenapiDocument['webhooks'][string]['post'];

const schemaName = ({ requestBody }: Pick<Webhook, 'requestBody'>) =>
  requestBody.content['application/json'].schema.$ref?.split('/').at(-1) ?? '';

/** The headers that every webhook has. */
export function webhookHeaders({ webhooks, components }: OpenapiDocument): Field[] {
  const [webhook] = Object.values(webhooks);
  return (webhook?.post.parameters ?? []).map(({ name, description, schema, required }) =>
    withHtml(fieldOf(name, { ...schema, description }, required, components.schemas)),
  );
}
