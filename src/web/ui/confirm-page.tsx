import type { ReactElement, ReactNode } from 'react';
import { ConfirmForm } from './form';
import { BackLink, Facts, type Fact } from './layout';

interface ConfirmFrameProps {
  readonly title: string;
  readonly back: { readonly href: string; readonly label: string };
  readonly facts: readonly Fact[];
  readonly explanation: string | null;
  /** What stands above the card. */
  readonly above?: ReactNode;
  /** The forms of the question. */
  readonly children: ReactNode;
}

/** A question before an action, as one card: what it concerns, what it does, and the buttons. */
export function ConfirmFrame({ title, back, facts, explanation, above, children }: ConfirmFrameProps): ReactElement {
  return (
    <div className="confirm-page">
      <BackLink {...back} />
      <div className="stack">
        {above}
        <section className="card confirm">
          <h1>{title}</h1>
          <Facts facts={facts} />
          {explanation !== null && <p className="text">{explanation}</p>}
          {children}
        </section>
      </div>
    </div>
  );
}

interface ConfirmPageProps extends Omit<ConfirmFrameProps, 'above' | 'children'> {
  /** The path of the form. */
  readonly action: string;
  readonly button: string;
  readonly cancel: string;
  readonly tone: 'primary' | 'danger';
  /** The hidden fields of the form. */
  readonly fields?: Readonly<Record<string, string>>;
  /** Why it is not possible; null: it is. */
  readonly rejection: string | null;
  /** What the form asks above its button. */
  readonly question?: ReactNode;
  /** What stands above the card. */
  readonly children?: ReactNode;
}

/** A question with one button, and the way back. */
export function ConfirmPage(props: ConfirmPageProps): ReactElement {
  const { title, back, facts, explanation, button, cancel, children, ...form } = props;
  return (
    <ConfirmFrame {...{ title, back, facts, explanation }} above={children}>
      <ConfirmForm label={button} {...form}>
        <a className="button wide-button back-button" href={back.href}>
          {cancel}
        </a>
      </ConfirmForm>
    </ConfirmFrame>
  );
}
