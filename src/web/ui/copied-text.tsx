import type { ReactElement, ReactNode } from 'react';

interface CopiedTextProps {
  /** What it is, for screen readers. */
  readonly name: string;
  readonly value: string;
  readonly copy: { readonly label: string; readonly done: string };
  /** Whether it is what the page is for. */
  readonly isMain?: boolean;
  /** Buttons beside the one that copies. */
  readonly children?: ReactNode;
}

/** A text to take along, such as a secret or a command. It wraps at any character, and the button copies it whole. */
export function CopiedText({ name, value, copy, isMain = false, children }: CopiedTextProps): ReactElement {
  return (
    <div className="copied-text">
      <pre role="group" aria-label={name}>
        <code>{value}</code>
      </pre>
      <button
        type="button"
        className={isMain ? 'button primary' : 'button'}
        data-copy={value}
        data-copied={copy.done}
        hidden
      >
        {copy.label}
      </button>
      {children}
    </div>
  );
}
