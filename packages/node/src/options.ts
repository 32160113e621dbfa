/**
 * Checks the options of a call: JavaScript accepts any value instead, and a misspelt name would have no effect.
 * @param owner of the options, such as `payments.create`
 * @param known all of their names
 * @param rule of the API that the mistake may have missed
 * @throws TypeError that names the mistake
 */
export function requireOptions<Options>(
  owner: string,
  options: Options,
  known: Record<keyof Options, true>,
  rule?: string,
): void {
  const mistake = mistakeIn(owner, options, Object.keys(known));
  if (mistake !== null) throw new TypeError(rule === undefined ? mistake : `${rule} ${mistake}`);
}

function mistakeIn(owner: string, options: unknown, names: readonly string[]): string | null {
  if (!isPlainObject(options)) return `The options of ${owner} are an object with: ${names.join(', ')}.`;
  const unknown = Object.keys(options).find((name) => !names.includes(name));
  return unknown === undefined ? null : `${owner} has no option "${unknown}". It has: ${names.join(', ')}.`;
}

/** Also one of another realm, such as that of a test. */
function isPlainObject(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
