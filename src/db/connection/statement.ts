/** A prepared statement. node-postgres prepares it once per connection, under its name. */
export interface PreparedStatement<Parameter extends string> {
  readonly name: string;
  readonly text: string;
  /** The names of $1, $2 and so on. */
  readonly parameters: readonly Parameter[];
}

/**
 * Replaces named parameters (`:paymentId`) by numbered ones, since PostgreSQL has only those.
 * @throws if the text names a parameter that is not listed
 */
export function prepareStatement<const Parameter extends string>(
  name: string,
  parameters: readonly Parameter[],
  text: string,
): PreparedStatement<Parameter> {
  const numbers = new Map<string, number>(parameters.map((parameter, index) => [parameter, index + 1]));
  const numbered = text.replaceAll(/(?<!:):([a-zA-Z]+)/g, (_, parameter: string) => {
    const number = numbers.get(parameter);
    if (number === undefined) throw new Error(`The statement ${name} has no parameter "${parameter}"`);
    return `$${number}`;
  });
  return { name, text: numbered, parameters };
}

/** The statement with its values, for `query`. */
export function bindStatement<Parameter extends string>(
  { name, text, parameters }: PreparedStatement<Parameter>,
  values: Readonly<Record<Parameter, unknown>>,
) {
  return { name, text, values: parameters.map((parameter) => values[parameter]) };
}

/** Literals for `in (…)`: PostgreSQL uses a partial index only if the statement has its predicate with literals. */
export function literalList(values: readonly string[]): string {
  return values.map((value) => `'${value}'`).join(', ');
}
