import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Environment } from '../../../config';
import type { Language } from '../../../domain/sign-in';
import { renderUnknownPages } from '../message-page';
import { renderLinkPage } from './link-page';
import type { LinkPage } from './link-state';
import { LINK_TEXTS_OF_CUSTOMERS } from './link-texts';

/** Some hundred pages of 5 kB. */
const MAX_PAGE_CHARACTERS = 4 * 1_024 * 1_024;

/** Random, so that no text of a merchant contains it. */
const ATTEMPT = `attempt-${randomUUID()}`;

/** The pages of links. A cached page has a placeholder for the id that each opening gets. */
export class LinkPages {
  readonly #pages = new LRUCache<string, string>({
    maxSize: MAX_PAGE_CHARACTERS,
    sizeCalculation: (page) => page.length,
  });
  readonly #isSandbox: boolean;
  readonly #unknown: Readonly<Record<Language, string>>;

  constructor(environment: Environment) {
    this.#isSandbox = environment === 'sandbox';
    this.#unknown = renderUnknownPages(LINK_TEXTS_OF_CUSTOMERS, this.#isSandbox);
  }

  /** The page of an unknown token. */
  unknown(language: Language): string {
    return this.#unknown[language];
  }

  /** The text of `renderLinkPage`, from the memory. */
  page({ attempt, link, state, language }: Omit<LinkPage, 'isSandbox'>): string {
    const { title, amountRupiah, minimumRupiah, maximumRupiah, merchantName, contact, accent, logo } = link;
    const shown = { title, amountRupiah, minimumRupiah, maximumRupiah, merchantName, contact, accent, logo };
    const key = JSON.stringify([shown, state, language]);
    const page = { link: shown, state, language, isSandbox: this.#isSandbox };
    const template = this.#pages.get(key) ?? renderLinkPage({ ...page, attempt: ATTEMPT });
    this.#pages.set(key, template);
    return template.replace(ATTEMPT, () => attempt);
  }
}
