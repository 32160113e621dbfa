import type { ReactElement, ReactNode } from 'react';
import { ConfirmForm } from './form';
import { Card, Facts, PageHead, type Fact } from './layout';

interface ConfirmPageProps {
  readonly title: string;
  readonly back: { readonly href: string; readonly label: string };
  readonly facts: readonly Fact[];
  readonly explanation: string;
  /** The path of the form. */
  readonly action: string;
  readonly button: string;
  readonly cancel: string;
  readonly tone: 'primary' | 'danger';
  /** The hidden fields of the form. */
  readonly fields?: Readonly<Record<string, string>>;
  /** Why it is not possible; null: it is. */
  readonly rejection: string | null;
  /** What stands above the question. */
  readonly children?: ReactNode;
}

/** A question before an action: what it concerns, what it does, and one button. */
export function ConfirmPage(props: ConfirmPageProps): ReactElement {
  const { title, back, facts, explanation, action, button, cancel, tone, fields = {}, rejection, children } = props;
  return (
    <div className="narrow">
      <PageHead title={title} back={back} />
      <div className="stack">
        {children}
        <Card>
          <Facts facts={facts} />
        </Card>
        <p className="text">{explanation}</p>
        <ConfirmForm action={action} label={button} tone={tone} fields={fields} rejection={rejection}>
          <a className="button wide-button" href={back.href}>
            {cancel}
          </a>
        </ConfirmForm>
      </div>
    </div>
  );
}
