import type { ReactElement } from 'react';

/** An action that concerns the payment now. */
export interface OfferedAction {
  readonly label: string;
  readonly href: string;
  /** Why it is not possible; null if it is. */
  readonly rejection: string | null;
  readonly tone?: 'primary' | 'danger';
}

/** Never hidden: a disabled button has its reason beside it. */
export function OfferedActionButton({ label, href, rejection, tone }: OfferedAction): ReactElement {
  if (rejection === null) {
    return (
      <a className={`button wide-button ${tone ?? ''}`} href={href}>
        {label}
      </a>
    );
  }
  const reasonId = `why-not-${href.slice(href.lastIndexOf('/') + 1)}`;
  return (
    <div className="rejected-action">
      <button type="button" className="button wide-button" disabled aria-describedby={reasonId}>
        {label}
      </button>
      <p id={reasonId} className="dim">
        {rejection}
      </p>
    </div>
  );
}
