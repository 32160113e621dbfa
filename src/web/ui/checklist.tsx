import type { ReactElement } from 'react';
import { Icon } from './icon';

export interface ChecklistStep {
  readonly title: string;
  /** Who does what. Shown until the step is done. */
  readonly hint: string;
  readonly isDone: boolean;
  /** Whether the set-up is complete without it. */
  readonly isOptional?: boolean;
  readonly link: { readonly href: string; readonly label: string } | null;
}

interface ChecklistProps {
  readonly steps: readonly ChecklistStep[];
  /** What a mark means, for who does not see it. */
  readonly states: { readonly done: string; readonly open: string };
}

/** The steps of a set-up: those that are done have a tick, each open one has a link. */
export function Checklist({ steps, states }: ChecklistProps): ReactElement {
  return (
    <ol className="checklist">
      {steps.map(({ title, hint, isDone, link }, index) => (
        <li key={title} className={isDone ? 'done' : undefined}>
          <span className="mark" aria-hidden="true">
            {isDone ? <Icon name="done" /> : index + 1}
          </span>
          <div>
            <p className="step">
              {title}
              <span className="unseen"> ({isDone ? states.done : states.open})</span>
            </p>
            {!isDone && <p className="dim small">{hint}</p>}
          </div>
          {!isDone && link !== null && <a href={link.href}>{link.label} ›</a>}
        </li>
      ))}
    </ol>
  );
}
