import addFormats from 'ajv-formats';
import Ajv, { type ValidateFunction } from 'ajv/dist/2020';
import { z } from 'zod';
import { buildDocument } from '../../src/api/openapi/document';
import { MERCHANT_ENDPOINTS, ROUTES } from '../../src/servers/api-routes';

/** A response as it was received. */
export interface LiveResponse {
  readonly status: number;
  readonly headers: Headers;
  /** Undefined if it is not JSON. */
  readonly body: unknown;
}

const JSON_CONTENT = ['content', 'application/json', 'schema'];
const NAME = 'contract';

const documentSchema = z.looseObject({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) });
const contract = documentSchema.parse(JSON.parse(JSON.stringify(buildDocument(MERCHANT_ENDPOINTS)), closeObject));
const ajv = addFormats(new Ajv({ strict: false, allErrors: true })).addSchema(contract, NAME);
const validators = new Map<string, ValidateFunction>();

/**
 * Compares a response with the OpenAPI document: the operation has its status, and the body matches without other keys.
 * A path that is not in the document returns `not_found`. Routes that are not for merchants, and streams, are not
 * compared.
 * @throws Error with the differences
 */
export function expectContract(method: string, path: string, response: LiveResponse): void {
  const route = findRoute(method, path);
  if (route && !('operationId' in route)) return;
  const [routePath, status] = route ? [route.path, response.status] : ['/payments/:id', 404];
  const template = routePath.replaceAll(/:(\w+)/g, '{$1}');
  const verb = route?.method ?? 'get';
  const differences = differencesFrom(['paths', template, verb, 'responses', String(status)], response);
  if (response.status !== status) differences.push(`the status is not ${status}`);
  if (differences.length === 0) return;
  const { body } = response;
  throw new Error(
    `${method} ${path} is not as documented (${verb} ${template}): ${differences.join('; ')}: ` +
      `${response.status} ${JSON.stringify(body)}`,
  );
}

function differencesFrom(response: readonly string[], { headers, body }: LiveResponse): string[] {
  const differences = headers.has('x-request-id') ? [] : ['X-Request-Id is missing'];
  const validate = validatorAt([...response, ...JSON_CONTENT]);
  if (!validate) return [...differences, 'there is no such status'];
  if (!validate(body)) differences.push(ajv.errorsText(validate.errors, { dataVar: 'body' }));
  return differences;
}

/** The validator of the schema at a location in the document, or undefined. */
export function validatorAt(location: readonly string[]): ValidateFunction | undefined {
  if (valueAt(contract, location) === undefined) return undefined;
  const pointer = location
    .map((token) => encodeURIComponent(token.replaceAll('~', '~0').replaceAll('/', '~1')))
    .join('/');
  const validate = validators.get(pointer) ?? ajv.compile({ $ref: `${NAME}#/${pointer}` });
  validators.set(pointer, validate);
  return validate;
}

export function valueAt(value: unknown, [token, ...rest]: readonly string[]): unknown {
  if (token === undefined) return value;
  if (typeof value !== 'object' || value === null) return undefined;
  return valueAt(Object.entries(value).find(([key]) => key === token)?.[1], rest);
}

/** Express ignores letter case and a slash at the end. */
function findRoute(method: string, path: string) {
  const [bare = ''] = path.split('?');
  return ROUTES.find(
    (route) =>
      route.method === method.toLowerCase() &&
      new RegExp(`^${route.path.replaceAll(/:\w+/g, '[^/]+')}/?$`, 'i').test(bare),
  );
}

/** The document allows additional fields for later versions. Here a response must have none. */
function closeObject(_key: string, value: unknown): unknown {
  const isObjectSchema = typeof value === 'object' && value !== null && 'type' in value && 'properties' in value;
  return isObjectSchema && value.type === 'object' ? { additionalProperties: false, ...value } : value;
}
