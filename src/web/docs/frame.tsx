import type { ReactElement, ReactNode } from 'react';
import type { Language } from '../../domain/sign-in';
import { renderDocument } from '../ui/document';
import { Logo } from '../ui/shell';
import { DOCS_FILES } from './files';
import { SEARCH_TEXTS } from './search-texts';

/** A page in the menu. */
export interface MenuPage {
  readonly path: string;
  readonly title: string;
  /** The method of the operation, if the page shows one. */
  readonly method?: 'GET' | 'POST';
}

export interface MenuGroup {
  readonly title: string;
  readonly pages: readonly MenuPage[];
  /** Absent: English. */
  readonly language?: Language;
}

export interface FrameProps {
  readonly title: string;
  /** The language of the text; the frame is in English. */
  readonly language?: Language;
  /** Null: the page is not in the menu. */
  readonly path: string | null;
  readonly menu: readonly MenuGroup[];
  /** What the search found is on the page. */
  readonly query?: string;
  readonly children: ReactNode;
}

/** A page of the documents as HTML. */
export function renderFrame({ children, ...props }: FrameProps): string {
  return renderDocument({
    title: `${props.title} · Lunas`,
    language: 'en',
    files: DOCS_FILES,
    scripts: [DOCS_FILES.search],
    live: 'none',
    className: 'docs',
    children: <Frame {...props}>{children}</Frame>,
  });
}

function Frame({ path, menu, query = '', language = 'en', children }: FrameProps): ReactElement {
  return (
    <>
      <a className="skip" href="#content">
        Skip to the content
      </a>
      <div className="frame">
        <header className="side">
          <a className="brand" href="/docs">
            <Brand />
          </a>
          <SearchForm query={query} language={language} />
          <Menu path={path} menu={menu} />
        </header>
        <header className="top">
          <details>
            <summary>
              <span className="brand">
                <Brand />
              </span>
              <span className="bars" aria-hidden="true">
                ☰
              </span>
              <span className="unseen">Menu</span>
            </summary>
            <SearchForm query={query} language={language} />
            <Menu path={path} menu={menu} />
          </details>
        </header>
        <main id="content" lang={language}>
          {children}
        </main>
      </div>
    </>
  );
}

function Brand(): ReactElement {
  return (
    <>
      <Logo />
      <span>
        <b>Lunas</b>
        <small>Documents for developers</small>
      </span>
    </>
  );
}

interface SearchFormProps {
  readonly query: string;
  readonly language: Language;
}

/** The script of the documents shows results below it while the reader types. */
export function SearchForm({ query, language }: SearchFormProps): ReactElement {
  const { label, hint, send, count, none } = SEARCH_TEXTS[language];
  return (
    <form
      className="search no-print"
      role="search"
      action="/docs/search"
      lang={language}
      data-count={count}
      data-none={none}
    >
      <input
        type="search"
        name="q"
        defaultValue={query}
        maxLength={100}
        aria-label={label}
        placeholder={hint}
        required
      />
      <button className="button">{send}</button>
    </form>
  );
}

function Menu({ path, menu }: Pick<FrameProps, 'path' | 'menu'>): ReactElement {
  return (
    <nav aria-label="Documents">
      {menu.map(({ title, pages, language }) => (
        <div key={title} className="menu-group" lang={language}>
          <p>{title}</p>
          <ul className="menu">
            {pages.map((page) => (
              <li key={page.path}>
                <a href={page.path} aria-current={page.path === path ? 'page' : undefined}>
                  {page.title}
                  {page.method && <Method method={page.method} />}
                </a>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}

export function Method({ method }: { readonly method: 'GET' | 'POST' }): ReactElement {
  return <span className={`method ${method.toLowerCase()}`}>{method}</span>;
}

/** HTML that `renderMarkdown` or `renderCode` made of our own texts. */
export function Html({ html, className }: { readonly html: string; readonly className?: string }): ReactElement {
  return <div className={className} dangerouslySetInnerHTML={{ __html: html }} />;
}

export interface Heading {
  readonly id: string;
  readonly title: string;
}

export function Contents({ headings }: { readonly headings: readonly Heading[] }): ReactElement | null {
  if (headings.length < 2) return null;
  return (
    <nav className="contents no-print" aria-label="On this page" lang="en">
      <p>On this page</p>
      <ul>
        {headings.map(({ id, title }) => (
          <li key={id}>
            <a href={`#${id}`}>{title}</a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
