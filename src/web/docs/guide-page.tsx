import type { ReactElement } from 'react';
import type { Language } from '../../domain/sign-in';
import { Contents, Html, Method, renderFrame, type MenuGroup, type MenuPage } from './frame';
import { DEVELOPER_GUIDES, INDONESIAN_SHOP_GUIDES, SHOP_GUIDES, type Guide } from './guides';
import type { RenderedMarkdown } from './markdown';

interface GuidePageProps {
  readonly guide: Guide;
  readonly text: RenderedMarkdown;
  readonly menu: readonly MenuGroup[];
  readonly next: MenuPage | undefined;
}

const TEXTS: Readonly<Record<Language, { readonly markdown: string; readonly next: string; readonly other: string }>> =
  {
    en: { markdown: 'This page as Markdown', next: 'Next', other: 'Bahasa Indonesia' },
    id: { markdown: 'Halaman ini sebagai Markdown', next: 'Berikutnya', other: 'English' },
  };

export function renderGuidePage({ guide, text, menu, next }: GuidePageProps): string {
  const { language = 'en', translation } = guide;
  const texts = TEXTS[language];
  const other = language === 'en' ? 'id' : 'en';
  return renderFrame({
    title: guide.title,
    language,
    path: `/docs/${guide.name}`,
    menu,
    children: (
      <div className="reading">
        <article>
          {translation !== undefined && (
            <p className="small no-print">
              <a href={`/docs/${translation}`} hrefLang={other} lang={other}>
                {texts.other}
              </a>
            </p>
          )}
          <Html className="prose" html={text.html} />
          <footer className="page-end no-print">
            <a href={`/docs/${guide.name}.md`}>{texts.markdown}</a>
            {next && (
              <a href={next.path}>
                {texts.next}: {next.title} ›
              </a>
            )}
          </footer>
        </article>
        <Contents headings={text.sections.filter(({ level }) => level === 2)} />
      </div>
    ),
  });
}

interface HomePageProps {
  /** A request that creates a payment, as HTML. */
  readonly sample: string;
  readonly menu: readonly MenuGroup[];
  readonly reference: readonly MenuPage[];
}

/** The first page: where a developer starts. */
export function renderHomePage({ sample, menu, reference }: HomePageProps): string {
  return renderFrame({
    title: 'Documents for developers',
    path: '/docs',
    menu,
    children: (
      <div className="home">
        <h1>Take QRIS payments</h1>
        <p className="lead">
          Create a payment, show its QR, and deliver when the signed webhook <code>payment.paid</code> arrives. The
          sandbox plays the customer and the bank: no money moves.
        </p>
        <Html html={sample} />
        <Guides guides={DEVELOPER_GUIDES} />
        <h2>For a shop</h2>
        <Guides guides={SHOP_GUIDES} />
        <h2 lang="id">Untuk toko</h2>
        <Guides guides={INDONESIAN_SHOP_GUIDES} />
        <h2>API reference</h2>
        <ul className="operations card">
          {reference.map(({ path, title, method }) => (
            <li key={path}>
              <a href={path}>{title}</a>
              {method && <Method method={method} />}
            </li>
          ))}
        </ul>
        <p>
          For programs: <a href="/openapi.json">openapi.json</a> and <a href="/llms.txt">llms.txt</a>.
        </p>
      </div>
    ),
  });
}

function Guides({ guides }: { readonly guides: readonly Guide[] }): ReactElement {
  return (
    <ol className="guides">
      {guides.map(({ name, title, summary, language }) => (
        <li key={name} className="card" lang={language}>
          <a href={`/docs/${name}`}>{title}</a>
          <p>{`${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`}</p>
        </li>
      ))}
    </ol>
  );
}

export function renderBusyPage(menu: readonly MenuGroup[]): string {
  return renderMessage(menu, {
    title: 'One moment, please',
    heading: 'One moment, please',
    text: (
      <>
        Too many requests came from your network. <a href="">Try again</a> in some seconds.
      </>
    ),
  });
}

export function renderMissingPage(menu: readonly MenuGroup[]): string {
  return renderMessage(menu, {
    title: 'No such page',
    heading: 'There is no such page',
    text: (
      <>
        The menu has all pages, and the search finds a word on any of them. <a href="/docs">All documents</a>
      </>
    ),
  });
}

interface Message {
  readonly title: string;
  readonly heading: string;
  readonly text: ReactElement;
}

function renderMessage(menu: readonly MenuGroup[], { title, heading, text }: Message): string {
  const children = (
    <div className="prose">
      <h1>{heading}</h1>
      <p>{text}</p>
    </div>
  );
  return renderFrame({ title, path: null, menu, children });
}
