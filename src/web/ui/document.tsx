import type { ReactElement, ReactNode } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import type { Language } from '../../domain/sign-in';

/** The addresses of what every page loads. */
export interface PageFiles {
  readonly style: string;
  readonly script: string;
  readonly icon: string;
}

/** How a page follows what it shows: by an event stream, by reading itself or an address again, or not at all. */
export type Liveness = { readonly events: string } | { readonly poll: string } | 'poll' | 'none';

export interface DocumentProps {
  readonly title: string;
  readonly language: Language;
  readonly files: PageFiles;
  readonly live: Liveness;
  /** What this page loads in addition. */
  readonly scripts?: readonly string[];
  readonly className?: string;
  readonly children: ReactNode;
}

/** The whole page as HTML. */
export function renderDocument(props: DocumentProps): string {
  return `<!doctype html>${renderToStaticMarkup(<Document {...props} />)}`;
}

/** What the script shows while it cannot read the page again. */
const OUTDATED: Readonly<Record<Language, string>> = {
  id: 'Koneksi terputus – status mungkin belum terbaru.',
  en: 'Connection lost – the status may not be up to date.',
};

/** Where the script listens, or what it reads again; empty: the page itself. */
function addressesOf(live: Liveness): { readonly events?: string; readonly poll?: string } {
  if (live === 'none') return {};
  return live === 'poll' ? { poll: '' } : live;
}

function Document({ title, language, files, live, scripts = [], className, children }: DocumentProps): ReactElement {
  const { events, poll } = addressesOf(live);
  return (
    <html lang={language}>
      <Head title={title} icon={files.icon} style={files.style} scripts={[files.script, ...scripts]} />
      <body className={className} data-live={events} data-poll={poll}>
        {children}
        <p id="announcement" className="unseen" aria-live="polite" />
        {live !== 'none' && (
          <div className="connection no-print" role="status">
            <p>{OUTDATED[language]}</p>
          </div>
        )}
      </body>
    </html>
  );
}

interface HeadProps {
  readonly title: string;
  readonly icon: string;
  readonly style: string;
  readonly scripts: readonly string[];
  readonly children?: ReactNode;
}

/** What a browser has to know of each page, and what it loads. */
export function Head({ title, icon, style, scripts, children }: HeadProps): ReactElement {
  return (
    <head>
      <meta charSet="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="robots" content="noindex" />
      <title>{title}</title>
      <link rel="icon" type="image/svg+xml" href={icon} />
      <link rel="stylesheet" href={style} />
      {scripts.map((script) => (
        <script key={script} src={script} defer />
      ))}
      {children}
    </head>
  );
}
