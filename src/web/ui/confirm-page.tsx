import type { ReactElement } from 'react';
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
  /** Why it is not possible; null: it is. */
  readonly rejection: string | null;
}

/** A question before an action: what it concerns, what it does, and one button. */
export function ConfirmPage(props: ConfirmPageProps): ReactElement {
  const { title, back, facts, explanation, action, button, cancel, tone, rejection } = props;
  return (
    <div className="narrow">
      <PageHead title={title} back={back} />
      <div className="stack">
        <Card>
          <Facts facts={facts} />
        </Card>
        <p className="text">{explanation}</p>
        <ConfirmForm action={action} label={button} tone={tone} rejection={rejection}>
          <a className="button wide-button" href={back.href}>
            {cancel}
          </a>
        </ConfirmForm>
      </div>
    </div>
  );
}
