import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Environment } from '../../config';
import type { Language } from '../../domain/sign-in';
import type { Card } from './card/card';
import { renderCardPng, type ReadLogo } from './card/draw-card';
import { codeCard, receiptCard, type CodePayment } from './cards';
import { checkoutStateOf, type CheckoutPage, type CheckoutPayment, type MarkTime } from './checkout-state';
import { markTimeAt } from './mark-time';
import { renderFailedPages, renderUnknownPages } from './message-page';
import { renderCheckoutPage } from './page';
import { TEXTS, type PageFailure } from './texts';
import { timeLeftAt, type TimeLeft } from './time-left';

/** Some hundred pages of 30 kB with a code. */
const MAX_PAGE_CHARACTERS = 16 * 1_024 * 1_024;
/** About a hundred images: one has 130 kB, and 260 kB with the mark of the sandbox. */
const MAX_IMAGE_BYTES = 16 * 1_024 * 1_024;

/** Random, so that no name of a merchant contains one of them. */
const PLACEHOLDERS: TimeLeft = {
  milliseconds: `milliseconds-${randomUUID()}`,
  countdown: `countdown-${randomUUID()}`,
  urgency: `urgency-${randomUUID()}`,
};

const MARK: MarkTime = { time: `time-${randomUUID()}`, endsMs: `ends-${randomUUID()}` };

/**
 * The pages and images that customers have requested. To render one takes some milliseconds of the event loop that all
 * requests share. A page changes with its payment, its language and the time left. A cached page has placeholders for
 * the time. Concurrent requests for an image share its rendering.
 */
export class CheckoutPages {
  readonly #pages = new LRUCache<string, string>({
    maxSize: MAX_PAGE_CHARACTERS,
    sizeCalculation: (page) => page.length,
  });
  readonly #images: LRUCache<string, Buffer, Card>;

  readonly #isSandbox: boolean;
  /** Anyone can request them, so they are rendered once. */
  readonly #unknown: Readonly<Record<Language, string>>;
  readonly #failed: Readonly<Record<PageFailure, Readonly<Record<Language, string>>>>;

  constructor(environment: Environment, readLogo: ReadLogo) {
    this.#images = new LRUCache({
      maxSize: MAX_IMAGE_BYTES,
      sizeCalculation: (image) => image.length,
      fetchMethod: (_key, _stale, { context }) => renderCardPng(context, readLogo),
    });
    this.#isSandbox = environment === 'sandbox';
    this.#unknown = renderUnknownPages(TEXTS, this.#isSandbox);
    this.#failed = {
      busy: renderFailedPages('busy', this.#isSandbox),
      unavailable: renderFailedPages('unavailable', this.#isSandbox),
    };
  }

  /** The page of an unknown token. */
  unknown(language: Language): string {
    return this.#unknown[language];
  }

  /** The page of a request that failed. */
  failed(failure: PageFailure, language: Language): string {
    return this.#failed[failure][language];
  }

  /** The text of `renderCheckoutPage`, from the memory. */
  page(page: Omit<CheckoutPage, 'isSandbox'>): string {
    const { payment, nowMs, ...others } = page;
    const mark = markTimeAt(payment, page.language, nowMs);
    const key = JSON.stringify([checkoutStateOf(payment, nowMs), mark !== null, textOf(payment), others]);
    const placeholders = { timeLeft: PLACEHOLDERS, mark: mark && MARK };
    const template =
      this.#pages.get(key) ?? renderCheckoutPage({ ...page, isSandbox: this.#isSandbox, ...placeholders });
    this.#pages.set(key, template);
    const { milliseconds, countdown, urgency } = timeLeftAt(nowMs, payment.expiresAt);
    return template
      .replace(PLACEHOLDERS.milliseconds, () => milliseconds)
      .replace(PLACEHOLDERS.countdown, () => countdown)
      .replace(PLACEHOLDERS.urgency, () => urgency)
      .replace(MARK.time, () => mark?.time ?? '')
      .replace(MARK.endsMs, () => mark?.endsMs ?? '');
  }

  /** The code with what to pay until when, as a PNG. @throws like `renderCardPng` */
  code(payload: string, payment: CodePayment, language: Language): Promise<Buffer> {
    return this.#image(codeCard(payload, payment, { language, isSandbox: this.#isSandbox }));
  }

  /** The receipt as a PNG. */
  receipt(payment: CheckoutPayment, language: Language, nowMs: number): Promise<Buffer> {
    return this.#image(receiptCard(payment, nowMs, { language, isSandbox: this.#isSandbox }));
  }

  #image(card: Card): Promise<Buffer> {
    return this.#images.forceFetch(JSON.stringify(card), { context: card });
  }
}

/** What a page shows of the payment. */
function textOf(payment: CheckoutPayment) {
  const { referenceId, merchantName, totalRupiah, status, expiresAt, qrisPayload, latePayment } = payment;
  const { merchantReferenceId, description, paidAt, updatedAt, contact, accent, logo } = payment;
  return [
    [referenceId, merchantName, totalRupiah, status, expiresAt.getTime(), qrisPayload, latePayment],
    [merchantReferenceId, description, paidAt?.getTime(), updatedAt.getTime(), contact],
    [accent, logo],
  ];
}
