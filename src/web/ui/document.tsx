import type { ReactElement, ReactNode } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import type { Language } from '../../domain/sign-in';

/** The addresses of what every page loads. */
export interface PageFiles {
  readonly fonts: readonly string[];
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
  /** A browser without scripts loads the page again by itself: nothing on it is written or chosen. */
  readonly reloads?: boolean;
  /** What this page loads in addition. */
  readonly styles?: readonly string[];
  readonly scripts?: readonly string[];
  /** What makes the page an app that can be installed. */
  readonly manifest?: string;
  readonly className?: string;
  readonly children: ReactNode;
}

/** The whole page as HTML. */
export function renderDocument(props: DocumentProps): string {
  return `<!doctype html>${renderToStaticMarkup(<Document {...props} />)}`;
}

/** Without a script the page reloads itself after this time. */
const RELOAD_SECONDS = 10;

/** What a live page shows until its script runs. */
const SCRIPT_OFF: Readonly<Record<Language, { readonly text: string; readonly reload: string }>> = {
  id: { text: 'Skrip halaman ini tidak dimuat.', reload: 'Periksa lagi' },
  en: { text: 'The script of this page did not load.', reload: 'Check again' },
};

/** What the script shows while it cannot read the page again. It writes since when. */
const OUTDATED: Readonly<Record<Language, (since: string) => string>> = {
  id: (since) => `Koneksi terputus sejak ${since} – status mungkin belum terbaru.`,
  en: (since) => `No connection since ${since} – the status may not be up to date.`,
};

/** Where the script listens, or what it reads again; empty: the page itself. */
function addressesOf(live: Liveness): { readonly events?: string; readonly poll?: string } {
  if (live === 'none') return {};
  return live === 'poll' ? { poll: '' } : live;
}

function Document({
  title,
  language,
  files,
  live,
  reloads,
  styles = [],
  scripts = [],
  manifest,
  className,
  children,
}: DocumentProps): ReactElement {
  const { events, poll } = addressesOf(live);
  const { text, reload } = SCRIPT_OFF[language];
  return (
    <html lang={language}>
      <Head title={title} files={files} scripts={[files.script, ...scripts]}>
        {styles.map((style) => (
          <link key={style} rel="stylesheet" href={style} />
        ))}
        {manifest !== undefined && <link rel="manifest" href={manifest} />}
        {reloads && <ReloadWithoutScript />}
      </Head>
      <body className={className} data-live={events} data-poll={poll}>
        {children}
        <p id="announcement" className="unseen" aria-live="polite" />
        {live !== 'none' && (
          <div className="connection no-print" role="status">
            <p data-since={OUTDATED[language]('{}')} />
            <p className="script-off">
              {text} <a href="">{reload}</a>
            </p>
          </div>
        )}
      </body>
    </html>
  );
}

/** For the head of a page that shows what can change. */
export function ReloadWithoutScript(): ReactElement {
  return (
    <noscript>
      <meta httpEquiv="refresh" content={String(RELOAD_SECONDS)} />
    </noscript>
  );
}

interface HeadProps {
  readonly title: string;
  readonly files: Omit<PageFiles, 'script'>;
  readonly scripts: readonly string[];
  readonly children?: ReactNode;
}

/** What a browser has to know of each page, and what it loads. */
export function Head({ title, files: { fonts, style, icon }, scripts, children }: HeadProps): ReactElement {
  return (
    <head>
      <meta charSet="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="robots" content="noindex" />
      <title>{title}</title>
      <link rel="icon" type="image/svg+xml" href={icon} />
      {fonts.map((font) => (
        <link key={font} rel="preload" as="font" type="font/woff2" href={font} crossOrigin="anonymous" />
      ))}
      <link rel="stylesheet" href={style} />
      {scripts.map((script) => (
        <script key={script} src={script} defer />
      ))}
      {children}
    </head>
  );
}
