import type { ReactElement, ReactNode } from 'react';

interface TextAreaProps {
  readonly name: string;
  readonly label: string;
  readonly value: string;
  readonly rows: number;
  readonly maxLength?: number;
  readonly hint?: ReactNode;
  readonly error?: string | undefined;
}

/** A field of several lines. */
export function TextArea({ name, label, value, hint, error, ...area }: TextAreaProps): ReactElement {
  const described = [error !== undefined && `${name}-error`, hint !== undefined && `${name}-hint`].filter(Boolean);
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
        aria-describedby={described.length === 0 ? undefined : described.join(' ')}
      />
      {error !== undefined && (
        <p id={`${name}-error`} className="field-error">
          {error}
        </p>
      )}
      {hint !== undefined && (
        <p id={`${name}-hint`} className="hint">
          {hint}
        </p>
      )}
    </div>
  );
}
