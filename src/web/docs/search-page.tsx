import type { ReactElement } from 'react';
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
        {query === '' && found !== null ? <SearchForm query="" /> : <Results found={found} />}
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
          <p>{excerpt.map(({ text, isMatch }, index) => (isMatch ? <mark key={index}>{text}</mark> : text))}</p>
        </li>
      ))}
    </ol>
  );
}
