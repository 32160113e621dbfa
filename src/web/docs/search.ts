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

/** Each word costs time of the event loop, which creates payments too. Further words are not searched. */
const MAX_WORDS = 5;
const MIN_WORD_LENGTH = 2;
/** A beginning of two letters has hundreds of words. */
const MIN_PREFIX_LENGTH = 3;
/** To look for a word with one mistake takes a millisecond or two. */
const MAX_MISTAKEN_WORDS = 2;
const MISTAKEN_LENGTHS = { min: 4, max: 16 } as const;
const MAX_MISTAKES = 1;

/** What people in Indonesia type, and the word of the documents for it. */
const SYNONYMS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    balance: ['saldo'],
    bank: ['rekening'],
    cancel: ['batal', 'batalkan', 'pembatalan'],
    cancelled: ['dibatalkan'],
    cashier: ['kasir'],
    customer: ['pelanggan', 'pembeli'],
    dashboard: ['dasbor'],
    error: ['galat', 'kesalahan'],
    expired: ['kedaluwarsa', 'kadaluarsa', 'kedaluarsa'],
    failed: ['gagal'],
    fee: ['biaya'],
    amount: ['jumlah', 'nominal'],
    key: ['kunci'],
    order: ['pesanan'],
    paid: ['dibayar'],
    password: ['sandi'],
    payment: ['bayar', 'pembayaran', 'transaksi'],
    payout: ['pencairan', 'cairkan'],
    refund: ['pengembalian', 'kembalikan'],
    retry: ['ulang', 'ulangi'],
    settlement: ['penyelesaian'],
    shop: ['toko'],
    signature: ['tandatangan'],
    statement: ['mutasi', 'laporan'],
  }).flatMap(([word, others]) => others.map((other) => [other, word] as const)),
);

const FIELDS = ['title', 'page', 'text'] as const;
/** With the flag `u`, an escape of any other character is an error. */
const SYNTAX_CHARACTERS = /[$()*+.?[\\\]^{|}]/g;

/** The search of the documents: words as they are, their beginnings, or, if there are none, with a mistake. */
export class DocsSearch {
  readonly #index = new MiniSearch<SearchableSection>({
    fields: [...FIELDS],
    tokenize: wordsOf,
    searchOptions: { boost: { title: 4, page: 2 }, prefix: (word) => word.length >= MIN_PREFIX_LENGTH },
  });
  readonly #sections: ReadonlyMap<string, SearchableSection>;
  /** The words of the documents, and their beginnings. */
  readonly #known: ReadonlySet<string>;

  constructor(sections: readonly SearchableSection[]) {
    this.#sections = new Map(sections.map((section) => [section.id, section]));
    this.#index.addAll([...this.#sections.values()]);
    const words = new Set(sections.flatMap((section) => FIELDS.flatMap((field) => wordsOf(section[field]))));
    this.#known = new Set([...words, ...[...words].flatMap(beginningsOf)]);
  }

  /** The best sections first. Those with all words exclude those with one of them. */
  find(query: string): FoundSection[] {
    const words = [...new Set(wordsOf(query).map((word) => this.#wordOfDocuments(word)))].slice(0, MAX_WORDS);
    const mistaken = new Set(words.filter((word) => this.#isMistaken(word)).slice(0, MAX_MISTAKEN_WORDS));
    const withOne = this.#index.search(words.join(' '), { fuzzy: (word) => mistaken.has(word) && MAX_MISTAKES });
    const withAll = withOne.filter(({ queryTerms }) => queryTerms.length === words.length);
    const results = withAll.length > 0 ? withAll : withOne;
    return results.slice(0, MAX_RESULTS).flatMap(({ id, terms }) => {
      const section = this.#sections.get(String(id));
      return section ? [{ ...section, excerpt: excerptOf(section.text, terms) }] : [];
    });
  }

  #wordOfDocuments(word: string): string {
    return this.#known.has(word) ? word : (SYNONYMS.get(word) ?? word);
  }

  #isMistaken(word: string): boolean {
    const { min, max } = MISTAKEN_LENGTHS;
    return word.length >= min && word.length <= max && !this.#known.has(word);
  }
}

const SEPARATORS = /[\n\r\p{Z}\p{P}]+/u;

/** The words of a text, in small letters. */
function wordsOf(text: string): string[] {
  return text
    .toLowerCase()
    .split(SEPARATORS)
    .filter((word) => word.length >= MIN_WORD_LENGTH);
}

function beginningsOf(word: string): string[] {
  return Array.from({ length: Math.max(word.length - MIN_PREFIX_LENGTH, 0) }, (_, index) =>
    word.slice(0, index + MIN_PREFIX_LENGTH),
  );
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
