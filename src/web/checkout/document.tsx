import type { ReactElement, ReactNode } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import type { Language } from '../../domain/sign-in';
import { Head, ReloadWithoutScript } from '../ui/document';
import { EnvironmentBar, SANDBOX_TEXTS } from '../ui/environment-bar';
import { accentAddress, CHECKOUT_FILES } from './files';
import { TEXTS } from './texts';

interface DocumentProps {
  readonly title: string;
  readonly language: Language;
  readonly isSandbox: boolean;
  readonly reloads: boolean;
  /** The colour of the shop; null: that of Lunas. */
  readonly accent: string | null;
  readonly children: ReactNode;
}

/** A page as HTML: its main part in the frame that all pages share. */
export function renderDocument(props: DocumentProps): string {
  return `<!doctype html>${renderToStaticMarkup(<Document {...props} />)}`;
}

function Document({ title, language, isSandbox, reloads, accent, children }: DocumentProps): ReactElement {
  const other = language === 'id' ? 'en' : 'id';
  const sandbox = SANDBOX_TEXTS[language];
  return (
    <html lang={language}>
      <Head
        title={isSandbox ? `${sandbox.name} · ${title}` : title}
        files={CHECKOUT_FILES}
        scripts={[CHECKOUT_FILES.script]}
      >
        {accent !== null && <link rel="stylesheet" href={accentAddress(accent)} />}
        {reloads && <ReloadWithoutScript />}
      </Head>
      <body>
        {isSandbox && <EnvironmentBar {...sandbox} />}
        <p id="offline" className="offline" hidden>
          {TEXTS[language].offline}
        </p>
        {children}
        <footer>
          <a href={`?lang=${other}`} hrefLang={other} lang={other}>
            {TEXTS[language].otherLanguage}
          </a>
        </footer>
        <p id="announcement" className="unseen" aria-live="polite" />
      </body>
    </html>
  );
}
