import MiniSearch from 'minisearch';

/** A part of a page that the search can find. */
export interface SearchableSection {
  /** The address with its anchor. */
  readonly id: string;
  readonly page: string;
  readonly title: string;
  readonly text: string;
}

export interface FoundSection extends SearchableSection {
  /** The text around the first match, in parts. */
  readonly excerpt: readonly ExcerptPart[];
}

interface ExcerptPart {
  readonly text: string;
  readonly isMatch: boolean;
}

const MAX_RESULTS = 20;
const EXCERPT_LENGTH = 200;
/** With the flag `u`, an escape of any other character is an error. */
const SYNTAX_CHARACTERS = /[$()*+.?[\\\]^{|}]/g;

/** The search of the documents: words as they are, their beginnings, and words with a mistake in writing. */
export class DocsSearch {
  readonly #index = new MiniSearch<SearchableSection>({
    fields: ['title', 'page', 'text'],
    searchOptions: { boost: { title: 4, page: 2 }, prefix: true, fuzzy: 0.2 },
  });
  readonly #sections: ReadonlyMap<string, SearchableSection>;

  constructor(sections: readonly SearchableSection[]) {
    this.#sections = new Map(sections.map((section) => [section.id, section]));
    this.#index.addAll([...this.#sections.values()]);
  }

  /** The best sections first. Those with all words exclude those with one of them. */
  find(query: string): FoundSection[] {
    const withAll = this.#index.search(query, { combineWith: 'AND' });
    const results = withAll.length > 0 ? withAll : this.#index.search(query);
    return results.slice(0, MAX_RESULTS).flatMap(({ id, terms }) => {
      const section = this.#sections.get(String(id));
      return section ? [{ ...section, excerpt: excerptOf(section.text, terms) }] : [];
    });
  }
}

/** @param terms words of the index, in small letters */
function excerptOf(text: string, terms: readonly string[]): ExcerptPart[] {
  const pattern = terms.map((term) => term.replaceAll(SYNTAX_CHARACTERS, String.raw`\$&`)).join('|');
  const first = text.search(new RegExp(pattern, 'iu'));
  const from = first < EXCERPT_LENGTH / 2 ? 0 : text.indexOf(' ', first - EXCERPT_LENGTH / 2) + 1;
  const part = text.slice(from, from + EXCERPT_LENGTH);
  const isLast = from + EXCERPT_LENGTH >= text.length;
  const shown = `${from > 0 ? '… ' : ''}${isLast ? part : `${part.slice(0, part.lastIndexOf(' '))} …`}`;
  // A pattern with a group keeps what separates the parts: each second part is a match.
  return shown.split(new RegExp(`(${pattern})`, 'giu')).map((text, index) => ({ text, isMatch: index % 2 === 1 }));
}
