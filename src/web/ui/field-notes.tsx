import type { ReactElement, ReactNode } from 'react';

interface FieldNotesProps {
  readonly name: string;
  readonly hint?: ReactNode;
  readonly error?: string | undefined;
}

/** What stands below a field: what is wrong with it, and what it is for. */
export function FieldNotes({ name, hint, error }: FieldNotesProps): ReactElement {
  return (
    <>
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
    </>
  );
}

/** The ids of these notes, for `aria-describedby`; undefined if there are none. */
export function noteIds({ name, hint, error }: FieldNotesProps): string | undefined {
  const ids = [error !== undefined && `${name}-error`, hint !== undefined && `${name}-hint`].filter(Boolean);
  return ids.length === 0 ? undefined : ids.join(' ');
}
