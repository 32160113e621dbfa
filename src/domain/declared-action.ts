/**
 * The name of an operator action in the audit log, which takes no other names. It is declared once, beside the function
 * that performs the action; `OPERATOR_ACTION_NAMES` collects them.
 */
export class DeclaredAction<Name extends string = string> {
  readonly #name: Name;

  constructor(name: Name) {
    this.#name = name;
  }

  get name(): Name {
    return this.#name;
  }
}
