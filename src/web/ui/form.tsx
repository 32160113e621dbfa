import type { InputHTMLAttributes, ReactElement, ReactNode } from 'react';
import { FieldNotes, noteIds } from './field-notes';

interface FieldProps extends Pick<
  InputHTMLAttributes<HTMLInputElement>,
  'type' | 'accept' | 'autoFocus' | 'inputMode' | 'autoComplete' | 'minLength' | 'maxLength' | 'required'
> {
  readonly name: string;
  readonly label: string;
  readonly value: string;
  readonly hint?: string | undefined;
  readonly error?: string | undefined;
  readonly wide?: boolean;
  /** What stands in front of the text, such as the currency. */
  readonly prefix?: string;
}

export function Field({ name, label, value, hint, error, wide, prefix, ...input }: FieldProps): ReactElement {
  const field = (
    <input
      {...input}
      id={name}
      name={name}
      defaultValue={value}
      aria-invalid={error === undefined ? undefined : true}
      aria-describedby={noteIds({ name, hint, error })}
    />
  );
  return (
    <div className={wide ? 'field wide' : 'field'}>
      <label htmlFor={name}>{label}</label>
      {prefix === undefined ? (
        field
      ) : (
        <div className="amount-input">
          <span aria-hidden="true">{prefix}</span>
          {field}
        </div>
      )}
      <FieldNotes name={name} hint={hint} error={error} />
    </div>
  );
}

interface ErrorSummaryProps {
  readonly title: string;
  readonly errors: Readonly<Partial<Record<string, string>>>;
}

/** The name of an error that is of no field. */
export const FORM_ERROR = 'form';

/** All errors of a form. That of a field is a link to it. */
export function ErrorSummary({ title, errors }: ErrorSummaryProps): ReactElement | null {
  const entries = Object.entries(errors);
  if (entries.length === 0) return null;
  return (
    <div className="notice bad" role="alert">
      <b>{title}</b>
      {entries.map(([name, error]) =>
        name === FORM_ERROR ? (
          <p key={name}>{error}</p>
        ) : (
          <a key={name} href={`#${name}`}>
            {error}
          </a>
        ),
      )}
    </div>
  );
}

interface ConfirmFormProps {
  readonly action: string;
  readonly label: string;
  readonly tone: 'primary' | 'danger';
  readonly fields?: Readonly<Record<string, string>>;
  /** Why the action is not possible; null if it is. */
  readonly rejection: string | null;
  /** What the form asks above its button. */
  readonly question?: ReactNode;
  readonly children?: ReactNode;
}

/** One button. If the action is not possible, it is disabled, and the reason stands above it. */
export function ConfirmForm(props: ConfirmFormProps): ReactElement {
  const { action, label, tone, fields = {}, rejection, question, children } = props;
  return (
    <form method="post" action={action} className="stack">
      {rejection !== null && (
        <p id="rejection" className="notice warning">
          {rejection}
        </p>
      )}
      {Object.entries(fields).map(([name, value]) => (
        <input key={name} type="hidden" name={name} value={value} />
      ))}
      {question}
      <div className="buttons">
        <button
          className={`button wide-button ${tone}`}
          disabled={rejection !== null}
          aria-describedby={rejection === null ? undefined : 'rejection'}
        >
          {label}
        </button>
        {children}
      </div>
    </form>
  );
}
