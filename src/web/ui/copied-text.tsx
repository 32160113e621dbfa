import type { ReactElement } from 'react';

interface CopiedTextProps {
  /** What it is, for screen readers. */
  readonly name: string;
  readonly value: string;
  readonly copy: { readonly label: string; readonly done: string };
}

/** A text to take along, such as a secret or a command. It wraps at any character, and the button copies it whole. */
export function CopiedText({ name, value, copy }: CopiedTextProps): ReactElement {
  return (
    <div className="copied-text">
      <pre role="group" aria-label={name}>
        <code>{value}</code>
      </pre>
      <button type="button" className="button" data-copy={value} data-copied={copy.done} hidden>
        {copy.label}
      </button>
    </div>
  );
}
