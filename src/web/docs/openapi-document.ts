import { z } from 'zod';

/** The part of JSON Schema that the reference shows. */
const schemaObject = z.object({
  $ref: z.string().optional(),
  title: z.string().optional(),
  description: z.string().optional(),
  type: z.union([z.string(), z.array(z.string())]).optional(),
  format: z.string().optional(),
  enum: z.array(z.string()).optional(),
  const: z.string().optional(),
  default: z.json().optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  minLength: z.number().optional(),
  maxLength: z.number().optional(),
  minItems: z.number().optional(),
  maxItems: z.number().optional(),
  required: z.array(z.string()).default([]),
  get properties() {
    return z.record(z.string(), schemaObject).optional();
  },
  get items() {
    return schemaObject.optional();
  },
  get anyOf() {
    return z.array(schemaObject).optional();
  },
});

export type SchemaObject = z.infer<typeof schemaObject>;

const parameter = z.object({
  name: z.string(),
  in: z.enum(['path', 'query', 'header']),
  required: z.boolean(),
  description: z.string().default(''),
  schema: schemaObject,
});

const jsonContent = z.object({
  'application/json': z.object({ schema: schemaObject, examples: z.record(z.string(), z.object({ value: z.json() })) }),
});

const operation = z.object({
  operationId: z.string(),
  summary: z.string(),
  description: z.string(),
  parameters: z.array(parameter),
  requestBody: z.object({ content: jsonContent }).optional(),
  responses: z.record(
    z.string(),
    z.object({
      description: z.string(),
      headers: z.record(z.string(), z.object({ $ref: z.string() })).default({}),
      content: jsonContent.optional(),
    }),
  ),
});

const pathItem = z.object({
  parameters: z.array(parameter).default([]),
  get: operation.optional(),
  post: operation.optional(),
});

const openapiDocument = z.object({
  info: z.object({ description: z.string() }),
  paths: z.record(z.string(), pathItem),
  webhooks: z.record(z.string(), z.object({ post: operation.required({ requestBody: true }) })),
  components: z.object({
    schemas: z.record(z.string(), schemaObject),
    headers: z.record(z.string(), z.object({ description: z.string() })),
  }),
});

export interface ApiOperation extends z.infer<typeof operation> {
  readonly method: 'GET' | 'POST';
  /** With parameters in braces: `/payments/{id}`. */
  readonly path: string;
}

export type OpenapiDocument = z.infer<typeof openapiDocument>;

/** The document that `/openapi.json` serves, as far as the reference shows it. */
export const parseOpenapi = (document: unknown): OpenapiDocument => openapiDocument.parse(document);

/** All operations, in the order of the document. Each has the parameters of its path too. */
export function operationsOf({ paths }: OpenapiDocument): ApiOperation[] {
  return Object.entries(paths).flatMap(([path, { parameters: shared, get, post }]) =>
    (
      [
        ['GET', get],
        ['POST', post],
      ] as const
    ).flatMap(([method, found]) =>
      found ? [{ ...found, method, path, parameters: [...shared, ...found.parameters] }] : [],
    ),
  );
}

/** One field of a body, as the reference shows it. */
export interface Field {
  readonly name: string;
  readonly type: string;
  readonly isRequired: boolean;
  /** Markdown. */
  readonly description: string;
  /** `1 to 10000000`, `at most 64 characters`. */
  readonly limits: string;
  /** The values that the description does not name. */
  readonly values: readonly string[];
  /** The fields of an object, or of each item of a list. */
  readonly fields: readonly Field[];
}

type Schemas = OpenapiDocument['components']['schemas'];

/** The body, or each of the bodies that are possible, by title. */
export function alternativesOf(schema: SchemaObject, schemas: Schemas): { title: string; fields: Field[] }[] {
  const resolved = resolve(schema, schemas);
  const alternatives = resolved.anyOf ?? [resolved];
  return alternatives.map((alternative) => {
    const { title = '' } = resolve(alternative, schemas);
    return { title, fields: fieldsOf(alternative, schemas) };
  });
}

function fieldsOf(schema: SchemaObject, schemas: Schemas): Field[] {
  const { properties = {}, required } = resolve(schema, schemas);
  return Object.entries(properties).map(([name, property]) =>
    fieldOf(name, property, required.includes(name), schemas),
  );
}

export function fieldOf(name: string, property: SchemaObject, isRequired: boolean, schemas: Schemas): Field {
  const { schema, isNullable } = withoutNull(resolve(property, schemas), schemas);
  const content = schema.items ? withoutNull(resolve(schema.items, schemas), schemas).schema : schema;
  const description = property.description ?? schema.description ?? '';
  const values = schema.const === undefined ? (schema.enum ?? []) : [schema.const];
  return {
    name,
    type: typeOf(schema, schemas) + (isNullable ? ' or null' : ''),
    isRequired,
    description,
    limits: limitsOf(schema),
    values: values.filter((value) => !description.includes(`\`${value}\``)),
    fields: fieldsOf(content, schemas),
  };
}

function resolve(schema: SchemaObject, schemas: Schemas): SchemaObject {
  if (schema.$ref === undefined) return schema;
  const found = schemas[schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1)];
  if (!found) throw new Error(`${schema.$ref} is not in the document.`);
  return found;
}

function withoutNull(schema: SchemaObject, schemas: Schemas): { schema: SchemaObject; isNullable: boolean } {
  const others = schema.anyOf?.filter(({ type }) => type !== 'null') ?? [];
  const [only] = others;
  if (only && others.length === 1) {
    return { schema: { ...resolve(only, schemas), description: schema.description }, isNullable: true };
  }
  if (!Array.isArray(schema.type)) return { schema, isNullable: false };
  const type = schema.type.find((name) => name !== 'null');
  return { schema: { ...schema, type }, isNullable: schema.type.includes('null') };
}

function typeOf({ type, format, items, anyOf }: SchemaObject, schemas: Schemas): string {
  if (items) return `list of ${typeOf(resolve(items, schemas), schemas)}s`;
  if (anyOf) return anyOf.map((one) => typeOf(resolve(one, schemas), schemas)).join(' or ');
  if (format === 'date-time') return 'time';
  if (format === 'uuid') return 'UUID';
  if (format === 'uri') return 'address';
  return String(type ?? 'any');
}

function limitsOf(schema: SchemaObject): string {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems } = schema;
  const limits = [
    rangeOf(minimum, maximum, ''),
    rangeOf(minLength, maxLength, ' characters'),
    rangeOf(minItems, maxItems, ' items'),
    schema.default === undefined ? '' : `default ${JSON.stringify(schema.default)}`,
  ];
  return limits.filter((limit) => limit !== '').join(', ');
}

function rangeOf(from: number | undefined, to: number | undefined, unit: string): string {
  const isBounded = to !== undefined && to < Number.MAX_SAFE_INTEGER;
  if (isBounded) return from === undefined ? `at most ${to}${unit}` : `${from} to ${to}${unit}`;
  return from === undefined || from <= Number.MIN_SAFE_INTEGER ? '' : `at least ${from}${unit}`;
}
