import type { ReactElement, ReactNode } from 'react';
import { ErrorSummary } from './form';
import { Card, Notice, PageHead } from './layout';

interface FormFrameProps {
  readonly title: string;
  readonly back: { readonly href: string; readonly label: string };
  /** Why the form cannot be sent; null: it can. */
  readonly rejection: string | null;
  readonly errorTitle: string;
  readonly errors: Readonly<Partial<Record<string, string>>>;
  /** The form. */
  readonly children: ReactNode;
}

/** A page with one form: why it cannot be sent, and what was wrong with it, stand above it. */
export function FormFrame({ title, back, rejection, errorTitle, errors, children }: FormFrameProps): ReactElement {
  return (
    <div className="narrow">
      <PageHead title={title} back={back} />
      <div className="stack">
        {rejection !== null && (
          <Notice tone="warning">
            <p>{rejection}</p>
          </Notice>
        )}
        <ErrorSummary title={errorTitle} errors={errors} />
        <Card>{children}</Card>
      </div>
    </div>
  );
}

interface FormButtonsProps {
  readonly label: string;
  readonly cancel: string;
  readonly back: string;
  /** Whether the form cannot be sent. */
  readonly isDisabled: boolean;
}

/** The button that sends a form, and the way back. */
export function FormButtons({ label, cancel, back, isDisabled }: FormButtonsProps): ReactElement {
  return (
    <div className="buttons">
      <button className="button primary wide-button" disabled={isDisabled}>
        {label}
      </button>
      <a className="button wide-button" href={back}>
        {cancel}
      </a>
    </div>
  );
}
