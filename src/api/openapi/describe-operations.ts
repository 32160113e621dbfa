import { z } from 'zod';
import { API_ERRORS, type ApiErrorCode } from '../../domain/errors';
import { errorSchema } from '../../http/api-error';
import type { MerchantEndpoint } from '../endpoint';
import { EXAMPLE_LINK } from '../payment-links/link-fields';
import { EXAMPLE_PAYMENT } from '../payments/example-payment';
import { PAYMENT_UNKNOWN } from '../payments/require-payment';
import { toJsonSchema, type JsonSchema } from './json-schema';
import { usualHeaders, type ResponseHeader } from './response-headers';

/** In the order of the checks; `server_error` can occur anywhere. */
const ERRORS_OF_EVERY_OPERATION = [
  'invalid_api_key',
  'api_key_ip_not_allowed',
  'merchant_not_approved',
  'scope_not_allowed',
  'rate_limited',
  'server_error',
] as const satisfies readonly ApiErrorCode[];

/** What the service sends in a usual case, where that is more than the sentence of `API_ERRORS`. */
const EXAMPLE_MESSAGES: Partial<Record<ApiErrorCode, string>> = {
  invalid_json: 'The body has the key "amount" twice.',
  invalid_parameter: 'cursor is not from a Link header; start again without it.',
  invalid_amount: 'amount must be an integer from 1 to 10000000, written as plain digits.',
  unsupported_payment_method: 'payment_method is not supported; use qris.',
  payment_create_failed: 'The transaction could not be created: the provider rejected it.',
  payment_cancel_failed: 'A transaction that is "cancelled" cannot be cancelled.',
  payment_refund_failed: 'A transaction that is "cancelled" cannot be refunded.',
  invalid_api_key: 'The secret key is mistyped, unknown, expired or revoked.',
  merchant_not_approved: 'The merchant is suspended.',
  scope_not_allowed: 'The key does not have the scope "read".',
  not_found: PAYMENT_UNKNOWN,
};

/** The `paths` of the document: `POST /payments/:id` is `post` of `/payments/{id}`. */
export function describePaths(endpoints: readonly MerchantEndpoint[]) {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const endpoint of endpoints) {
    const template = endpoint.path.replaceAll(/:(\w+)/g, '{$1}');
    paths[template] = {
      ...paths[template],
      ...(template.includes('{id}') && { parameters: [isOfLink(endpoint) ? PATH_LINK_ID : PATH_ID] }),
      [endpoint.method]: describeOperation(endpoint),
    };
  }
  return paths;
}

const PATH_ID = {
  name: 'id',
  in: 'path',
  required: true,
  description: 'The `id` of a transaction, or its `reference_id`. Transactions of other merchants are not found.',
  schema: { type: 'string' },
  examples: { id: { value: EXAMPLE_PAYMENT.id }, reference_id: { value: EXAMPLE_PAYMENT.reference_id } },
};

const PATH_LINK_ID = {
  ...PATH_ID,
  description: 'The `id` of a payment link, or its `reference_id`. Links of other merchants are not found.',
  examples: { id: { value: EXAMPLE_LINK.id }, reference_id: { value: EXAMPLE_LINK.reference_id } },
};

const isOfLink = ({ path }: Pick<MerchantEndpoint, 'path'>) => path.startsWith('/payment-links');

function oneOrAny(schemas: readonly JsonSchema[]): JsonSchema {
  const [only, ...others] = schemas;
  return only !== undefined && others.length === 0 ? only : { anyOf: schemas };
}

function describeOperation(endpoint: MerchantEndpoint) {
  const { operationId, summary, scope, query, headers, requestBody, response, errors } = endpoint;
  const readsBody = endpoint.readsBody !== undefined;
  return {
    operationId,
    summary,
    description: `${endpoint.description}\n\nScope of the key: \`${scope}\`.`,
    tags: [isOfLink(endpoint) ? 'Payment links' : 'Transactions'],
    parameters: [...describeParameters('query', query?.shape ?? {}), ...describeParameters('header', headers ?? {})],
    ...(requestBody && {
      requestBody: {
        required: true,
        content: jsonContent(oneOrAny(Object.keys(requestBody.schemas).map(refTo)), requestBody.examples),
      },
    }),
    responses: {
      [response.status]: {
        description: response.status === 201 ? 'Created.' : 'Done.',
        headers: refToHeaders([...usualHeaders(response.status, readsBody), ...(response.headers ?? [])]),
        content: jsonContent(refTo(response.name), response.examples),
      },
      ...describeFailures([...errors, ...ERRORS_OF_EVERY_OPERATION], readsBody),
    },
  };
}

export function describeParameters(location: 'query' | 'header', schemas: Readonly<Record<string, z.ZodType>>) {
  return Object.entries(schemas).map(([name, zodSchema]) => {
    const { description, ...schema } = toJsonSchema(zodSchema);
    return { name, in: location, required: !zodSchema.safeParse(undefined).success, description, schema };
  });
}

/** A response for each status, with its error codes and an example of each. */
function describeFailures(codes: readonly ApiErrorCode[], readsBody: boolean) {
  const statuses = [...new Set(codes.map((code) => API_ERRORS[code].httpStatus))];
  return Object.fromEntries(
    statuses.map((status) => [
      status,
      describeFailure(
        status,
        codes.filter((code) => API_ERRORS[code].httpStatus === status),
        readsBody,
      ),
    ]),
  );
}

function describeFailure(httpStatus: number, codes: readonly ApiErrorCode[], readsBody: boolean) {
  const messageOf = (code: ApiErrorCode) => EXAMPLE_MESSAGES[code] ?? API_ERRORS[code].message;
  const examples = codes.map((code) => [code, { error: { code, message: messageOf(code) } }]);
  return {
    description: codes.map((code) => `\`${code}\``).join(', '),
    headers: refToHeaders(usualHeaders(httpStatus, readsBody)),
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
