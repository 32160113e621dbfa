import type { ReactElement, ReactNode } from 'react';

export interface TimelineEntry {
  readonly key: string;
  readonly tone: 'good' | 'bad' | 'plain' | 'minor';
  readonly title: string;
  /** Who did it, or what it means. */
  readonly note: string | null;
  readonly time: ReactNode;
  readonly details?: { readonly summary: string; readonly lines: readonly string[] };
}

/** What happened to one object, oldest first. */
export function Timeline({ entries }: { readonly entries: readonly TimelineEntry[] }): ReactElement {
  return (
    <ol className="timeline">
      {entries.map(({ key, tone, title, note, time, details }) => (
        <li key={key} className={tone}>
          <div className="event">
            {tone === 'minor' ? <span>{title}</span> : <b>{title}</b>}
            {time}
          </div>
          {note !== null && <p className="dim">{note}</p>}
          {details && (
            <details>
              <summary>{details.summary}</summary>
              <ol>
                {details.lines.map((line) => (
                  <li key={line}>{line}</li>
                ))}
              </ol>
            </details>
          )}
        </li>
      ))}
    </ol>
  );
}
