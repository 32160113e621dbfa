import { Fragment, type ReactElement, type ReactNode } from 'react';
import { FieldNotes, noteIds } from './field-notes';

interface Choice {
  /** The name of a checkbox, the value of a radio button. */
  readonly name: string;
  readonly label: string;
  /** What it means. */
  readonly note?: string | undefined;
  readonly isChosen: boolean;
  /** Why the user may not choose it; null or absent if they may. */
  readonly rejection?: string | null;
  /** What belongs to it alone: hidden while another one is chosen. Fields among it are sent then too. */
  readonly details?: ReactNode;
}

interface ChoicesProps {
  /** The id of the group, for the link of an error; for radio buttons also the name of the field. */
  readonly name: string;
  readonly kind: 'radio' | 'checkbox';
  readonly label: string;
  readonly choices: readonly Choice[];
  readonly hint?: string | undefined;
  readonly error?: string | undefined;
  /** One of the radio buttons has to be chosen. */
  readonly required?: boolean;
}

/** A group of radio buttons, or of checkboxes. Each checkbox is a field of its own, whose value is `on`. */
export function Choices(props: ChoicesProps): ReactElement {
  const { name, kind, label, choices, hint, error, required } = props;
  return (
    <fieldset id={name} tabIndex={-1} aria-describedby={noteIds({ name, hint, error })}>
      <legend>{label}</legend>
      {choices.map((choice) => (
        <Fragment key={choice.name}>
          <label className="choice">
            <input
              type={kind}
              name={kind === 'radio' ? name : choice.name}
              value={kind === 'radio' ? choice.name : 'on'}
              defaultChecked={choice.isChosen && !choice.rejection}
              disabled={Boolean(choice.rejection)}
              required={required}
            />
            <span>
              {choice.label}
              {(choice.rejection ?? choice.note) && (
                <span className="dim small under">{choice.rejection ?? choice.note}</span>
              )}
            </span>
          </label>
          {choice.details !== undefined && <div className="choice-details">{choice.details}</div>}
        </Fragment>
      ))}
      <FieldNotes name={name} hint={hint} error={error} />
    </fieldset>
  );
}
