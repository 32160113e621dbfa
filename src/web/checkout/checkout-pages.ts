import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Language } from '../../domain/sign-in';
import { renderLabelledQrisPng } from '../../qris/image';
import { checkoutStateOf, type CheckoutPage, type CheckoutPayment } from './checkout-state';
import { renderCheckoutPage } from './page';
import { formatRupiah, formatTimestamp, TEXTS } from './texts';
import { timeLeftAt, type TimeLeft } from './time-left';

/** Some hundred pages of 30 kB with a code. */
const MAX_PAGE_CHARACTERS = 16 * 1_024 * 1_024;
/** Some thousand images. */
const MAX_IMAGE_BYTES = 16 * 1_024 * 1_024;

/** Random, so that no name of a merchant contains one of them. */
const PLACEHOLDERS: TimeLeft = {
  milliseconds: `milliseconds-${randomUUID()}`,
  countdown: `countdown-${randomUUID()}`,
  urgency: `urgency-${randomUUID()}`,
};

/** What an image shows. */
type ImagePayment = Pick<CheckoutPayment, 'referenceId' | 'merchantName' | 'totalRupiah' | 'expiresAt'>;

interface ImageContext {
  readonly payload: string;
  readonly payment: ImagePayment;
  readonly language: Language;
}

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
  readonly #images = new LRUCache<string, Buffer, ImageContext>({
    maxSize: MAX_IMAGE_BYTES,
    sizeCalculation: (image) => image.length,
    fetchMethod: (_key, _stale, { context }) => renderImage(context),
  });

  /** The same text as `renderCheckoutPage`. */
  page(page: CheckoutPage): string {
    const { payment, nowMs, ...others } = page;
    const key = JSON.stringify([checkoutStateOf(payment, nowMs), textOf(payment), others]);
    const template = this.#pages.get(key) ?? renderCheckoutPage({ ...page, timeLeft: PLACEHOLDERS });
    this.#pages.set(key, template);
    const { milliseconds, countdown, urgency } = timeLeftAt(nowMs, payment.expiresAt);
    return template
      .replace(PLACEHOLDERS.milliseconds, () => milliseconds)
      .replace(PLACEHOLDERS.countdown, () => countdown)
      .replace(PLACEHOLDERS.urgency, () => urgency);
  }

  /** The QR with merchant, amount and deadline, as a PNG. @throws like `renderQrisPng` */
  image(payload: string, payment: ImagePayment, language: Language): Promise<Buffer> {
    const key = JSON.stringify([payload, imageTextOf(payment), language]);
    return this.#images.forceFetch(key, { context: { payload, payment, language } });
  }
}

function imageTextOf({ referenceId, merchantName, totalRupiah, expiresAt }: ImagePayment) {
  return [referenceId, merchantName, totalRupiah, expiresAt.getTime()];
}

/** What a page shows of the payment. */
function textOf(payment: CheckoutPayment) {
  const { status, qrisPayload, latePayment, merchantReferenceId, description, paidAt, updatedAt, contact } = payment;
  return [
    ...imageTextOf(payment),
    [
      status,
      qrisPayload,
      latePayment,
      merchantReferenceId,
      description,
      paidAt?.getTime(),
      updatedAt.getTime(),
      contact,
    ],
  ];
}

function renderImage({ payload, payment, language }: ImageContext): Promise<Buffer> {
  const { payBefore } = TEXTS[language];
  return renderLabelledQrisPng(payload, [
    { text: payment.merchantName, scale: 3 },
    { text: formatRupiah(payment.totalRupiah), scale: 5 },
    { text: `${payBefore} ${formatTimestamp(payment.expiresAt, language)}`, scale: 2 },
    { text: payment.referenceId, scale: 2 },
  ]);
}
