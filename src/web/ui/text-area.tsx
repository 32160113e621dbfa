import type { ReactElement, ReactNode } from 'react';
import { FieldNotes, noteIds } from './field-notes';

interface TextAreaProps {
  readonly name: string;
  readonly label: string;
  readonly value: string;
  readonly rows: number;
  readonly required?: boolean;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly hint?: ReactNode;
  readonly error?: string | undefined;
}

/** A field of several lines. */
export function TextArea({ name, label, value, hint, error, ...area }: TextAreaProps): ReactElement {
  return (
    <div className="field">
      <label htmlFor={name}>{label}</label>
      <textarea
        {...area}
        id={name}
        name={name}
        defaultValue={value}
        spellCheck={false}
        aria-invalid={error === undefined ? undefined : true}
        aria-describedby={noteIds({ name, hint, error })}
      />
      <FieldNotes name={name} hint={hint} error={error} />
    </div>
  );
}
