import type { ReactElement, ReactNode } from 'react';
import { Icon, type IconName } from './icon';

/** Where the cell stands at 320 pixels, where a row has two lines. */
type NarrowPosition = 'first' | 'first-end' | 'second' | 'second-end' | 'hidden';

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => ReactNode;
  readonly narrow: NarrowPosition;
  readonly className?: string;
}

interface TableProps<Row> {
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** Shown instead of a table without rows. */
  readonly empty: ReactNode;
}

/** The roles keep what a table means where the style sheet changes how its rows are displayed. */
export function Table<Row>({ caption, columns, rows, keyOf, empty }: TableProps<Row>): ReactElement {
  if (rows.length === 0) return <>{empty}</>;
  return (
    <table className="responsive" role="table">
      <caption className="unseen">{caption}</caption>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map(({ title, className }) => (
            <th key={title} scope="col" role="columnheader" className={className}>
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row) => (
          <tr key={keyOf(row)} role="row">
            {columns.map(({ title, cell, narrow, className = '' }) => (
              <td key={title} role="cell" className={`${className} ${narrow}`.trim()}>
                {cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface PagerProps {
  readonly newer: string | null;
  readonly older: string | null;
  readonly texts: { readonly newer: string; readonly older: string; readonly name: string };
}

/** There are no page numbers: the list changes between two pages. */
export function Pager({ newer, older, texts }: PagerProps): ReactElement | null {
  if (newer === null && older === null) return null;
  return (
    <nav className="pager" aria-label={texts.name}>
      {newer === null ? <span /> : <a href={newer}>‹ {texts.newer}</a>}
      {older === null ? <span /> : <a href={older}>{texts.older} ›</a>}
    </nav>
  );
}

interface EmptyStateProps {
  readonly icon: IconName;
  readonly text: string;
  readonly children?: ReactNode;
}

/** What a list is, and the one thing to do next. */
export function EmptyState({ icon, text, children }: EmptyStateProps): ReactElement {
  return (
    <div className="empty">
      <span className="disc">
        <Icon name={icon} />
      </span>
      <p className="text">{text}</p>
      {children}
    </div>
  );
}
