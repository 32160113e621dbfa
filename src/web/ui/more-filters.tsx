import type { ReactElement, ReactNode } from 'react';

interface MoreFiltersProps {
  readonly label: string;
  /** Whether one of these filters is set. */
  readonly isSet: boolean;
  readonly children: ReactNode;
}

/** The fields of a filter that a narrow screen shows only when the user opens them. */
export function MoreFilters({ label, isSet, children }: MoreFiltersProps): ReactElement {
  return (
    <details className="more-filters" open={isSet}>
      <summary>{label}</summary>
      <div>{children}</div>
    </details>
  );
}
