import { z } from 'zod';

export type JsonSchema = Readonly<Record<string, unknown>>;

/** Where a component of the document is found. */
const uriOf = (name: string) => `#/components/schemas/${name}`;

/**
 * JSON Schemas of zod schemas, by name. Where one of them is part of another, the other refers to it.
 * @param io `input` for what callers send, `output` for what they get: without `additionalProperties: false`, as
 *   fields may be added to answers
 */
export function toJsonSchemas(schemas: Readonly<Record<string, z.ZodType>>, io: 'input' | 'output') {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(schemas)) registry.add(schema, { id });
  const { schemas: converted } = z.toJSONSchema(registry, {
    io,
    uri: uriOf,
    // The one type of ours that JSON has no word for: a number, as its token stands (`NumberToken`).
    unrepresentable: () => ({ type: 'number' }),
    override: ({ jsonSchema }) => {
      // A format says it all; its pattern is a page long.
      if (jsonSchema.format !== undefined) delete jsonSchema.pattern;
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
    },
  });
  for (const schema of Object.values(converted)) {
    // Within a document both would change what its references mean.
    delete schema.$schema;
    delete schema.$id;
  }
  return converted;
}

/** The JSON Schema of one value that callers send, such as a parameter. */
export function toJsonSchema(schema: z.ZodType): JsonSchema {
  return toJsonSchemas({ it: schema }, 'input').it ?? {};
}
