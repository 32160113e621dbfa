import type { FieldAttributes, FormAttributes } from './field-attributes';
import type { FieldErrors, SentFields } from './read-form';

/** What a page has of the fields of its form, by their names. */
interface ShownForm {
  /** Null: nothing was sent, and the fields are empty. */
  readonly sent: SentFields | null;
  readonly errors: FieldErrors;
  readonly attributes: FormAttributes;
}

interface SentField extends FieldAttributes {
  readonly name: string;
  readonly value: string;
  readonly error: string | undefined;
}

/** A field as it was sent, with its error and with what the browser checks of it. */
export function sentField(name: string, { sent, errors, attributes }: ShownForm): SentField {
  return { name, value: sent?.[name] ?? '', error: errors[name], ...attributes[name] };
}
