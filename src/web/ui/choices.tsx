import type { ReactElement } from 'react';

interface Choice {
  /** The name of a checkbox, the value of a radio button. */
  readonly name: string;
  readonly label: string;
  readonly isChosen: boolean;
  /** Why the user may not choose it; null or absent if they may. */
  readonly rejection?: string | null;
}

interface ChoicesProps {
  /** The id of the group, for the link of an error; for radio buttons also the name of the field. */
  readonly name: string;
  readonly kind: 'radio' | 'checkbox';
  readonly label: string;
  readonly choices: readonly Choice[];
  readonly hint?: string | undefined;
  readonly error?: string | undefined;
}

/** A group of radio buttons, or of checkboxes. Each checkbox is a field of its own, whose value is `on`. */
export function Choices({ name, kind, label, choices, hint, error }: ChoicesProps): ReactElement {
  const described = [error !== undefined && `${name}-error`, hint !== undefined && `${name}-hint`].filter(Boolean);
  return (
    <fieldset id={name} tabIndex={-1} aria-describedby={described.length === 0 ? undefined : described.join(' ')}>
      <legend>{label}</legend>
      {choices.map((choice) => (
        <label key={choice.name} className="choice">
          <input
            type={kind}
            name={kind === 'radio' ? name : choice.name}
            value={kind === 'radio' ? choice.name : 'on'}
            defaultChecked={choice.isChosen && !choice.rejection}
            disabled={Boolean(choice.rejection)}
          />
          <span>
            {choice.label}
            {choice.rejection && <span className="dim small under">{choice.rejection}</span>}
          </span>
        </label>
      ))}
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
    </fieldset>
  );
}
