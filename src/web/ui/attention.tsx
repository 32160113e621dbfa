import type { ReactElement } from 'react';

export interface AttentionRow {
  readonly tone: 'bad' | 'warning';
  readonly text: string;
  /** What to do. */
  readonly hint?: string;
  readonly link?: { readonly href: string; readonly label: string };
}

/** What waits for the merchant, the most urgent first. */
export function Attention({ rows }: { readonly rows: readonly AttentionRow[] }): ReactElement {
  return (
    <ul className="attention">
      {rows.map(({ tone, text, hint, link }) => (
        <li key={text}>
          <span className={`mark ${tone}`} aria-hidden="true">
            !
          </span>
          <div>
            <p>{text}</p>
            {hint !== undefined && <p className="dim small">{hint}</p>}
          </div>
          {link && <a href={link.href}>{link.label} ›</a>}
        </li>
      ))}
    </ul>
  );
}

export interface Tab {
  readonly label: string;
  readonly href: string;
  readonly isCurrent: boolean;
}

/** Links of which one is chosen. */
export function Tabs({ name, tabs }: { readonly name: string; readonly tabs: readonly Tab[] }): ReactElement {
  return (
    <nav aria-label={name}>
      <ul className="tabs">
        {tabs.map(({ label, href, isCurrent }) => (
          <li key={href}>
            <a href={href} aria-current={isCurrent ? 'true' : undefined}>
              {label}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
