import { z } from 'zod';
import { PageError } from './page-error';

/** The code of a merchant in the path of a page. */
export const merchantCode = z.string().regex(/^[0-9A-HJKMNP-TV-Z]{8}$/);

/** The names of the parts `:name` of a pattern. An ending such as `.csv` can follow the last one. */
type PartOf<Pattern extends string> = Pattern extends `${string}:${infer Part}/${infer Rest}`
  ? Part | PartOf<`/${Rest}`>
  : Pattern extends `${string}:${infer Part}.${string}`
    ? Part
    : Pattern extends `${string}:${infer Part}`
      ? Part
      : never;

type PartSchemas<Pattern extends string> = { readonly [Part in PartOf<Pattern>]: z.ZodType<string> };
type Parts<Pattern extends string> = { readonly [Part in PartOf<Pattern>]: string };
type Query = Readonly<Record<string, string | undefined>>;

/**
 * The address of a page, declared once: its pattern for Express, the links to it, and the parts of a request.
 * @param schemas what each part of the pattern can be
 */
export function pagePath<const Pattern extends string, Schemas extends PartSchemas<Pattern>>(
  pattern: Pattern,
  schemas: Schemas,
) {
  const schema = z.object(schemas);
  return {
    pattern,
    /** The path with these parts, which are encoded. Parameters without a value are left out of the query. */
    to(parts: Parts<Pattern>, query: Query = {}): string {
      const values: Readonly<Record<string, string>> = parts;
      const path = pattern.replaceAll(/:(\w+)/g, (_, part: string) => encodeURIComponent(values[part] ?? ''));
      const present = new URLSearchParams();
      for (const [name, value] of Object.entries(query)) if (value) present.set(name, value);
      return present.size === 0 ? path : `${path}?${present.toString()}`;
    },
    /** @throws PageError `not_found` if a part of the path is not possible, before any query */
    read(parts: Readonly<Record<string, unknown>>) {
      const parsed = schema.safeParse(parts);
      if (parsed.success) return parsed.data;
      throw new PageError('not_found', `the path is not ${pattern}`);
    },
  };
}
