import { LRUCache } from 'lru-cache';
import type { Environment } from '../../config';
import { renderEventsPage } from './events-page';
import type { MenuGroup, MenuPage } from './frame';
import { renderBusyPage, renderGuidePage, renderHomePage, renderMissingPage } from './guide-page';
import {
  DEVELOPER_GUIDES,
  GUIDES,
  INDONESIAN_SHOP_GUIDES,
  pageAddress,
  readGuide,
  SHOP_GUIDES,
  type Addresses,
  type Guide,
} from './guides';
import { plainText, renderMarkdown } from './markdown';
import { operationsOf, type ApiOperation, type Field, type OpenapiDocument } from './openapi-document';
import { anchorOf, renderOperationPage } from './operation-page';
import { renderOverviewPage } from './overview-page';
import { fieldGroups, operationPath, viewKind, viewOperation, webhookHeaders, webhookKinds } from './reference';
import { DocsSearch, type SearchableSection } from './search';
import { renderSearchHits, renderSearchPage } from './search-page';

const OVERVIEW: MenuPage = { path: '/docs/api', title: 'Overview' };
const EVENTS: MenuPage = { path: '/docs/api/events', title: 'Webhook events' };

const toMenuPage = ({ name, title }: Guide): MenuPage => ({ path: `/docs/${name}`, title });

/** Some hundred pages of results, of 20 kB each. */
const MAX_FOUND_CHARACTERS = 8 * 1_024 * 1_024;

/** A page of results, or the best ones for the list below the field. */
export type ResultsKind = 'page' | 'hits';

/** What the documents are about. */
export interface DocumentedService extends Addresses {
  readonly environment: Environment;
}

/**
 * The documents as pages. A page is rendered once, that of a search as long as it is in the cache. The index of the
 * search is built once.
 */
export class DocsSite {
  readonly #menu: readonly MenuGroup[];
  readonly #pages: ReadonlyMap<string, () => Promise<string>>;
  readonly #rendered = new Map<string, string>();
  readonly #markdown = new Map<Guide, string>();
  readonly #found = new LRUCache<string, string>({
    maxSize: MAX_FOUND_CHARACTERS,
    sizeCalculation: (page) => page.length,
  });
  #missing: string | undefined;
  #busy: string | undefined;
  #busySearch: string | undefined;
  #search: DocsSearch | undefined;

  constructor(
    private readonly document: OpenapiDocument,
    private readonly service: DocumentedService,
  ) {
    const canTry = service.environment === 'sandbox';
    const operations = operationsOf(document);
    const reference = operations.map((operation) => ({
      path: operationPath(operation),
      title: operation.summary,
      method: operation.method,
    }));
    const menu: MenuGroup[] = [
      { title: 'Guides', pages: DEVELOPER_GUIDES.map(toMenuPage) },
      { title: 'For a shop', pages: SHOP_GUIDES.map(toMenuPage) },
      { title: 'Untuk toko', pages: INDONESIAN_SHOP_GUIDES.map(toMenuPage), language: 'id' },
      { title: 'API reference', pages: [OVERVIEW, ...reference, EVENTS] },
    ];
    this.#menu = menu;
    const sync = (render: () => string) => () => Promise.resolve(render());
    this.#pages = new Map([
      ['/docs', sync(() => renderHomePage({ sample: this.#firstSample(operations), menu, reference }))],
      ...GUIDES.map((guide) => [`/docs/${guide.name}`, () => this.#renderGuide(guide)] as const),
      [OVERVIEW.path, sync(() => this.#renderOverview(reference))],
      ...operations.map((operation) => {
        const render = () => renderOperationPage({ view: viewOperation(operation, document), menu, canTry });
        return [operationPath(operation), sync(render)] as const;
      }),
      [
        EVENTS.path,
        sync(() => {
          const kinds = webhookKinds(document).map(viewKind);
          return renderEventsPage({ kinds, headers: webhookHeaders(document), menu });
        }),
      ],
    ]);
  }

  /** The first sample of the first operation, which creates a payment. */
  #firstSample([operation]: readonly ApiOperation[]): string {
    return (operation && viewOperation(operation, this.document).samples[0]?.html) ?? '';
  }

  /** @param path without a slash at its end */
  async find(path: string): Promise<string | undefined> {
    const render = this.#pages.get(path);
    if (!render) return undefined;
    const rendered = this.#rendered.get(path) ?? (await render());
    this.#rendered.set(path, rendered);
    return rendered;
  }

  /** The text of a guide. */
  async findMarkdown(name: string): Promise<string | undefined> {
    const guide = GUIDES.find((one) => one.name === name);
    return guide && this.#read(guide);
  }

  missingPage(): string {
    this.#missing ??= renderMissingPage(this.#menu);
    return this.#missing;
  }

  /** For a network that has used its budget of requests. */
  busyPage(): string {
    this.#busy ??= renderBusyPage(this.#menu);
    return this.#busy;
  }

  /** @returns undefined: `search` has to search it */
  findResults(query: string, kind: ResultsKind): string | undefined {
    return this.#found.get(`${kind} ${query}`);
  }

  /** Takes some milliseconds of the event loop: the caller limits how often. */
  async search(query: string, kind: ResultsKind): Promise<string> {
    this.#search ??= new DocsSearch(await this.#sections());
    const found = this.#search.find(query);
    const html = kind === 'hits' ? renderSearchHits(found) : renderSearchPage({ query, found, menu: this.#menu });
    // An empty text has no size.
    if (html !== '') this.#found.set(`${kind} ${query}`, html);
    return html;
  }

  /** The page instead of results, if there are too many searches. */
  busySearchPage(): string {
    this.#busySearch ??= renderSearchPage({ query: '', found: null, menu: this.#menu });
    return this.#busySearch;
  }

  async #read(guide: Guide): Promise<string> {
    const text = this.#markdown.get(guide) ?? (await readGuide(guide, this.service));
    this.#markdown.set(guide, text);
    return text;
  }

  async #renderGuide(guide: Guide): Promise<string> {
    const text = renderMarkdown(await this.#read(guide), { addressOf: pageAddress });
    const group =
      [DEVELOPER_GUIDES, SHOP_GUIDES, INDONESIAN_SHOP_GUIDES].find((guides) => guides.includes(guide)) ?? [];
    const following = group[group.indexOf(guide) + 1];
    const last = group === DEVELOPER_GUIDES ? OVERVIEW : undefined;
    return renderGuidePage({ guide, text, menu: this.#menu, next: following ? toMenuPage(following) : last });
  }

  #renderOverview(operations: readonly MenuPage[]): string {
    const { html, sections } = renderMarkdown(this.document.info.description);
    const headings = sections.filter(({ level }) => level === 2);
    return renderOverviewPage({ text: html, headings, operations, menu: this.#menu });
  }

  async #sections(): Promise<SearchableSection[]> {
    const guides = await Promise.all(
      GUIDES.map(async (guide) => {
        const text = await this.#read(guide);
        return sectionsIn(text, `/docs/${guide.name}`, guide.title);
      }),
    );
    return [
      ...guides.flat(),
      ...sectionsIn(this.document.info.description, OVERVIEW.path, 'API reference'),
      ...operationsOf(this.document).flatMap((operation) => searchableOperation(operation, this.document)),
      ...searchableEvents(this.document),
    ];
  }
}

/** A section of the first level is the page. */
function sectionsIn(markdown: string, path: string, page: string): SearchableSection[] {
  return renderMarkdown(markdown).sections.map(({ id, level, title, text }) => ({
    id: level === 1 ? path : `${path}#${id}`,
    page,
    title,
    text,
  }));
}

/** The operation, and each part of its page that lists fields. */
function searchableOperation(operation: ApiOperation, document: OpenapiDocument): SearchableSection[] {
  const { method, path, summary, description } = operation;
  const [address, page] = [operationPath(operation), 'API reference'];
  const parts = fieldGroups(operation, document).map(({ title, fields }) => ({
    id: `${address}#${anchorOf(title)}`,
    page,
    title: `${summary}: ${title.toLowerCase()}`,
    text: textOf(fields),
  }));
  return [{ id: address, page, title: summary, text: plainText(`${method} ${path}. ${description}`) }, ...parts];
}

function searchableEvents(document: OpenapiDocument): SearchableSection[] {
  return webhookKinds(document).map(({ title, events, fields }) => ({
    id: `${EVENTS.path}#${anchorOf(title)}`,
    page: EVENTS.title,
    title: `${EVENTS.title}: ${title.toLowerCase()}`,
    text: [...events.map(({ name, summary }) => `${name}: ${summary}`), textOf(fields)].join(' '),
  }));
}

/** What the page shows of the fields, in words. */
function textOf(fields: readonly Field[]): string {
  return fields
    .map(({ name, description, limits, values, fields }) =>
      [`${name}:`, plainText(description), limits, ...values, textOf(fields)].filter((text) => text !== '').join(' '),
    )
    .join(' ');
}
