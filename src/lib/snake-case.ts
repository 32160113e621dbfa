/**
 * The document with its keys in snake case, as the operator API and `--json` show it. Dates do not change. The keys of
 * a map are data, such as the names of a merchant's metadata: they do not change either.
 */
export function snakeCaseKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(snakeCaseKeys);
  if (value instanceof Map) return Object.fromEntries(value);
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [snakeCase(key), snakeCaseKeys(item)]));
}

export function snakeCase(key: string): string {
  return key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
