import { z } from 'zod';
import { API_ERRORS, type ApiErrorCode } from '../../domain/errors';
import { errorSchema } from '../payments/payment-fields';
import { type ResponseHeader, usualHeaders } from './response-headers';
import { LISTED_PAYMENT } from '../payments/example-payment';
import { toJsonSchema, type JsonSchema } from './json-schema';
import { ERRORS_OF_EVERY_OPERATION, type Operation } from './operations';

/** The `paths` of the document: `POST /payments/:id` is `post` of `/payments/{id}`. */
export function describePaths(operations: Readonly<Record<string, Operation>>) {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const [route, operation] of Object.entries(operations)) {
    const [method = '', path = ''] = route.split(' ');
    const template = path.replaceAll(/:(\w+)/g, '{$1}');
    paths[template] = {
      ...paths[template],
      ...(template.includes('{id}') && { parameters: [PATH_ID] }),
      [method.toLowerCase()]: describeOperation(operation),
    };
  }
  return paths;
}

const PATH_ID = {
  name: 'id',
  in: 'path',
  required: true,
  description: 'The `id` of a transaction, or its `reference_id`. Those of other merchants are not found.',
  schema: { type: 'string' },
  examples: { id: { value: LISTED_PAYMENT.id }, reference_id: { value: LISTED_PAYMENT.reference_id } },
};

function describeOperation({
  operationId,
  summary,
  description,
  query,
  headers,
  request,
  response,
  errors,
}: Operation) {
  return {
    operationId,
    summary,
    description,
    tags: ['Transactions'],
    parameters: [...describeParameters('query', query?.shape ?? {}), ...describeParameters('header', headers ?? {})],
    ...(request && {
      requestBody: {
        required: true,
        content: jsonContent({ anyOf: Object.keys(request.schemas).map(refTo) }, request.examples),
      },
    }),
    responses: {
      [response.status]: {
        description: response.status === 201 ? 'Created.' : 'Done.',
        headers: refToHeaders([...usualHeaders(response.status), ...(response.headers ?? [])]),
        content: jsonContent(refTo(response.name), response.examples),
      },
      ...describeFailures([...errors, ...ERRORS_OF_EVERY_OPERATION]),
    },
  };
}

export function describeParameters(place: 'query' | 'header', schemas: Readonly<Record<string, z.ZodType>>) {
  return Object.entries(schemas).map(([name, zodSchema]) => {
    const { description, ...schema } = toJsonSchema(zodSchema);
    return { name, in: place, required: !zodSchema.safeParse(undefined).success, description, schema };
  });
}

/** A response for each status among the codes, with its codes and an example of each. */
function describeFailures(codes: readonly ApiErrorCode[]) {
  const statuses = [...new Set(codes.map((code) => API_ERRORS[code].httpStatus))];
  return Object.fromEntries(
    statuses.map((status) => [
      status,
      describeFailure(
        status,
        codes.filter((code) => API_ERRORS[code].httpStatus === status),
      ),
    ]),
  );
}

function describeFailure(httpStatus: number, codes: readonly ApiErrorCode[]) {
  const examples = codes.map((code) => [code, { error: { code, message: API_ERRORS[code].message } }]);
  return {
    description: codes.map((code) => `\`${code}\``).join(', '),
    headers: refToHeaders(usualHeaders(httpStatus)),
    content: jsonContent(toJsonSchema(z.object({ error: errorSchema(codes) })), Object.fromEntries(examples)),
  };
}

export function jsonContent(schema: JsonSchema, examples: Readonly<Record<string, unknown>>) {
  const named = Object.entries(examples).map(([name, value]) => [name, { value }]);
  return { 'application/json': { schema, examples: Object.fromEntries(named) } };
}

export const refTo = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });

function refToHeaders(names: readonly ResponseHeader[]) {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
