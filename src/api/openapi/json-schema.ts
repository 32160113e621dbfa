import { z } from 'zod';

export type JsonSchema = Readonly<Record<string, unknown>>;

/** The reference to a component. */
const uriOf = (name: string) => `#/components/schemas/${name}`;

/**
 * JSON Schemas of zod schemas, by name. A schema that is part of another is referenced there.
 * @param io `input` for requests, `output` for responses, both without `additionalProperties: false`: fields may be
 *   added
 */
export function toJsonSchemas(schemas: Readonly<Record<string, z.ZodType>>, io: 'input' | 'output') {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(schemas)) registry.add(schema, { id });
  const { schemas: converted } = z.toJSONSchema(registry, {
    io,
    uri: uriOf,
    // `NumberToken`, the only type of ours that JSON Schema cannot express.
    unrepresentable: () => ({ type: 'number' }),
    override: ({ jsonSchema }) => {
      // The format is enough; its pattern is a page long.
      if (jsonSchema.format !== undefined) delete jsonSchema.pattern;
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
    },
  });
  for (const schema of Object.values(converted)) {
    // In a document both would change the meaning of its references.
    delete schema.$schema;
    delete schema.$id;
  }
  return converted;
}

/** The JSON Schema of one value in a request, such as a parameter. */
export function toJsonSchema(schema: z.ZodType): JsonSchema {
  return toJsonSchemas({ it: schema }, 'input').it ?? {};
}
