import type { ReactElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { renderFrame, SearchForm, type MenuGroup } from './frame';
import type { FoundSection } from './search';

interface SearchPageProps {
  readonly query: string;
  /** Null: the service did not search, because of too many searches. */
  readonly found: readonly FoundSection[] | null;
  readonly menu: readonly MenuGroup[];
}

export function renderSearchPage({ query, found, menu }: SearchPageProps): string {
  return renderFrame({
    title: query === '' ? 'Search' : `${query}: search`,
    path: null,
    menu,
    query,
    children: (
      <div className="found">
        <h1>{query === '' ? 'Search the documents' : `“${query}” in the documents`}</h1>
        {query === '' && found !== null ? <SearchForm query="" language="en" /> : <Results found={found} />}
      </div>
    ),
  });
}

function Results({ found }: Pick<SearchPageProps, 'found'>): ReactElement {
  if (found === null) return <p>There are too many searches at present. Try again in a few seconds.</p>;
  if (found.length === 0) return <p>Nothing was found. Try one word, such as “refund” or “signature”.</p>;
  return (
    <ol>
      {found.map(({ id, page, title, excerpt }) => (
        <li key={id}>
          <a href={id}>{title}</a>
          <span className="dim small">{page}</span>
          <p>
            <Excerpt excerpt={excerpt} />
          </p>
        </li>
      ))}
    </ol>
  );
}

function Excerpt({ excerpt }: Pick<FoundSection, 'excerpt'>): ReactElement {
  return <>{excerpt.map(({ text, isMatch }, index) => (isMatch ? <mark key={index}>{text}</mark> : text))}</>;
}

/** The best results, for the list below the field while the reader types. */
const MAX_HITS = 8;

export function renderSearchHits(found: readonly FoundSection[]): string {
  return renderToStaticMarkup(
    <>
      {found.slice(0, MAX_HITS).map(({ id, page, title, excerpt }) => (
        <a key={id} href={id} role="option" tabIndex={-1}>
          <b>{title}</b> <span>{page}</span>
          <small>
            <Excerpt excerpt={excerpt} />
          </small>
        </a>
      ))}
    </>,
  );
}
