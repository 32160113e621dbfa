import type { ReactElement, ReactNode } from 'react';
import type { Language } from '../../../domain/sign-in';
import { renderDocument } from '../../ui/document';
import { SANDBOX_TEXTS } from '../../ui/environment-bar';
import { Logo } from '../../ui/shell';
import { DASHBOARD_FILES } from '../files';
import { DASHBOARD_TEXTS } from '../texts/texts';

interface SignInFrame {
  readonly language: Language;
  readonly title: string;
  readonly isSandbox: boolean;
  /** The page in the other language; null: the user's language is known. */
  readonly otherLanguage: string | null;
  /** What the page loads in addition. */
  readonly scripts?: readonly string[];
  readonly children: ReactNode;
}

/** A page outside of the frame of a merchant, for who signs in or proves their identity. */
export function renderSignInPage(frame: SignInFrame): string {
  return renderDocument({
    title: `${frame.title} · Lunas`,
    language: frame.language,
    files: DASHBOARD_FILES,
    live: 'none',
    className: 'message-page',
    scripts: frame.scripts ?? [],
    children: <Frame {...frame} />,
  });
}

function Frame({ language, title, isSandbox, otherLanguage, children }: SignInFrame): ReactElement {
  const texts = DASHBOARD_TEXTS[language];
  return (
    <main>
      <div className="stack">
        <div className="sign-in-head">
          <span className="brand">
            <Logo />
            <b>Lunas</b>
          </span>
          {isSandbox && <span className="chip neutral">{SANDBOX_TEXTS[language].name}</span>}
        </div>
        <h1>{title}</h1>
        {children}
        {otherLanguage !== null && (
          <a href={otherLanguage} lang={language === 'id' ? 'en' : 'id'} hrefLang={language === 'id' ? 'en' : 'id'}>
            {texts.otherLanguage}
          </a>
        )}
      </div>
    </main>
  );
}
