import type { ReactElement } from 'react';
import { FieldNotes, noteIds } from './field-notes';

interface SelectProps {
  readonly name: string;
  readonly label: string;
  readonly value: string;
  readonly options: readonly { readonly value: string; readonly label: string }[];
  readonly error?: string | undefined;
  readonly required?: boolean;
}

/** A field with a choice of a list. */
export function Select({ name, label, value, options, error, required }: SelectProps): ReactElement {
  return (
    <div className="field">
      <label htmlFor={name}>{label}</label>
      <select
        id={name}
        name={name}
        defaultValue={value}
        required={required}
        aria-invalid={error === undefined ? undefined : true}
        aria-describedby={noteIds({ name, error })}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
      <FieldNotes name={name} error={error} />
    </div>
  );
}
