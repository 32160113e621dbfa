import { z } from 'zod';

/** What the browser checks of a field before it sends the form. */
export interface FieldAttributes {
  readonly required?: true;
  readonly minLength?: number;
  readonly maxLength?: number;
}

/** The attributes of each field, by its name. */
export type FormAttributes = Readonly<Partial<Record<string, FieldAttributes>>>;

/** What is used of the JSON schema of a form. A group of checkboxes is an array: the browser checks nothing of it. */
const formSchema = z.object({
  properties: z
    .record(
      z.string(),
      z.object({ type: z.string().optional(), minLength: z.number().optional(), maxLength: z.number().optional() }),
    )
    .default({}),
  required: z.array(z.string()).default([]),
});

const known = new WeakMap<z.ZodType, FormAttributes>();

/**
 * The attributes of the fields of a form, by the schema with which the server reads it. The limits are those of the
 * text that is sent, before it is converted, so the browser rejects nothing that the server accepts.
 */
export function attributesOf(fields: z.ZodType): FormAttributes {
  const found = known.get(fields) ?? readAttributes(fields);
  known.set(fields, found);
  return found;
}

function readAttributes(fields: z.ZodType): FormAttributes {
  const { properties, required } = formSchema.parse(z.toJSONSchema(fields, { io: 'input', unrepresentable: 'any' }));
  const texts = Object.entries(properties).filter(([, { type }]) => type !== 'array');
  return Object.fromEntries(
    texts.map(([name, { minLength, maxLength }]) => [
      name,
      {
        ...(required.includes(name) && { required: true as const }),
        ...(minLength !== undefined && { minLength }),
        ...(maxLength !== undefined && { maxLength }),
      },
    ]),
  );
}
