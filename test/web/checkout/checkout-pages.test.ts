import { readFileSync } from 'node:fs';
import path from 'node:path';
import { createCanvas, loadImage } from '@napi-rs/canvas';
import type { Environment } from '../../../src/config';
import { PAYMENT_STATUSES } from '../../../src/domain/payment-transitions';
import { LANGUAGES } from '../../../src/domain/sign-in';
import { PACKAGE_ROOT } from '../../../src/package-info';
import type { Card } from '../../../src/web/checkout/card/card';
import { COLOURS } from '../../../src/web/checkout/card/card-style';
import { codeCard, receiptCard } from '../../../src/web/checkout/cards';
import { CheckoutPages } from '../../../src/web/checkout/checkout-pages';
import type { CheckoutPage, CheckoutPayment } from '../../../src/web/checkout/checkout-state';
import { renderCheckoutPage } from '../../../src/web/checkout/page';
import { SANDBOX_TEXTS } from '../../../src/web/ui/environment-bar';
import { WARUNG_PAYLOAD } from '../../support/warung-qris';

const PAYLOAD = '00020101021226';
const NOW_MS = Date.parse('2026-11-21T08:00:00Z');
const PAYMENT: CheckoutPayment = {
  referenceId: 'LN24HJ0000000001',
  merchantName: 'Toko $& <b> 14:59',
  totalRupiah: 50_000,
  status: 'pending',
  expiresAt: new Date(NOW_MS + 900_000),
  qrisPayload: PAYLOAD,
  latePayment: null,
  merchantReferenceId: 'ORDER-1',
  description: 'Kopi susu',
  paidAt: null,
  updatedAt: new Date(NOW_MS),
  contact: null,
  accent: null,
  logo: null,
};
const PAID = { ...PAYMENT, status: 'paid', paidAt: new Date(NOW_MS) } as const;

const SHOP = { merchantName: 'Kopi Senja', qrisPayload: WARUNG_PAYLOAD };
const WITH_SHOP: CheckoutPayment = { ...PAYMENT, ...SHOP };

const LOGO_HASH = 'the-logo';
const LOGO_COLOUR = '#1020f0';
async function readLogo(hash: string): Promise<Buffer | undefined> {
  if (hash !== LOGO_HASH) return undefined;
  const canvas = createCanvas(40, 40);
  const context = canvas.getContext('2d');
  context.fillStyle = LOGO_COLOUR;
  context.fillRect(0, 0, 40, 40);
  return canvas.encode('png');
}

const PAGE: CheckoutPage = {
  payment: PAYMENT,
  path: '/pay/token',
  statusKey: '2',
  returnUrl: 'https://shop.example/orders',
  language: 'id',
  isSandbox: true,
  nowMs: NOW_MS,
};

describe('a page from the memory', () => {
  it.each(PAYMENT_STATUSES)('%s: is the one that would be rendered, at each time and in each language', (status) => {
    const pages = new CheckoutPages('sandbox', readLogo);
    for (const language of LANGUAGES) {
      for (const seconds of [0, 1, 61, 899, 900, 1_000, 5]) {
        const page = { ...PAGE, language, nowMs: NOW_MS + seconds * 1_000, payment: { ...PAYMENT, status } };
        expect(pages.page(page)).toBe(renderCheckoutPage(page));
      }
    }
  });

  it('asks for the amount only before it is paid', () => {
    const payment = { ...PAYMENT, status: 'paid', paidAt: new Date(NOW_MS) } as const;
    const pages = [PAGE, { ...PAGE, payment }].map((page) => renderCheckoutPage({ ...page, language: 'en' }));
    expect(pages.map((html) => /<span class="unseen">([^:]*): </.exec(html)?.[1])).toEqual(['Total to pay', 'Amount']);
  });

  it('a page from the memory is another one for another payment, status, deadline, shop or path', () => {
    const pages = new CheckoutPages('sandbox', readLogo);
    const variants: readonly CheckoutPage[] = [
      PAGE,
      { ...PAGE, path: '/pay/other' },
      { ...PAGE, statusKey: '3' },
      { ...PAGE, returnUrl: null },
      { ...PAGE, payment: { ...PAYMENT, merchantName: 'Other' } },
      { ...PAGE, payment: { ...PAYMENT, totalRupiah: 1 } },
      { ...PAGE, payment: { ...PAYMENT, referenceId: 'LN1' } },
      { ...PAGE, payment: { ...PAYMENT, expiresAt: new Date(NOW_MS + 60_000) } },
      { ...PAGE, payment: { ...PAYMENT, status: 'expired', latePayment: 'refunded' } },
      { ...PAGE, payment: { ...PAYMENT, status: 'expired' } },
      { ...PAGE, payment: { ...PAYMENT, description: 'Teh' } },
      { ...PAGE, payment: { ...PAYMENT, merchantReferenceId: null } },
      { ...PAGE, payment: { ...PAYMENT, contact: '+62 21 555' } },
      { ...PAGE, payment: { ...PAYMENT, accent: '#ff6600' } },
      { ...PAGE, payment: { ...PAYMENT, logo: { hash: '00', width: 256, height: 64 } } },
      { ...PAGE, payment: { ...PAYMENT, status: 'paid', paidAt: new Date(NOW_MS) } },
      { ...PAGE, payment: { ...PAYMENT, status: 'cancelled' } },
      { ...PAGE, payment: { ...PAYMENT, status: 'cancelled', updatedAt: new Date(NOW_MS + 60_000) } },
    ];
    for (const page of variants) expect(pages.page(page)).toBe(renderCheckoutPage(page));
    expect(new Set(variants.map((page) => pages.page(page))).size).toBe(variants.length);
  });
});

describe('an image from the memory', () => {
  it('an image is rendered once, also for concurrent requests, and once for each language and payment', async () => {
    const pages = new CheckoutPages('sandbox', readLogo);
    const [first, second] = await Promise.all(LANGUAGES.map(() => pages.code(PAYLOAD, PAYMENT, 'id')));
    expect(second).toBe(first);
    expect(await pages.code(PAYLOAD, PAYMENT, 'id')).toBe(first);
    const others = await Promise.all([
      pages.code(PAYLOAD, PAYMENT, 'en'),
      pages.code(PAYLOAD, { ...PAYMENT, merchantName: 'Łódź' }, 'id'),
      pages.receipt({ ...PAYMENT, status: 'paid', paidAt: new Date(NOW_MS) }, 'id', NOW_MS),
      pages.receipt({ ...PAYMENT, status: 'paid', paidAt: new Date(NOW_MS + 60_000) }, 'id', NOW_MS),
    ]);
    expect(new Set([first, ...others].map((image) => image?.toString('base64'))).size).toBe(5);
  });

  it('an image has a text that is too long, and letters that the font lacks', async () => {
    const payment = { ...PAYMENT, merchantName: 'Toko '.repeat(50), merchantReferenceId: '日本'.repeat(100) };
    const image = await new CheckoutPages('sandbox', readLogo).code('a'.repeat(512), payment, 'id');
    expect(image.readUInt32BE(16)).toBeGreaterThanOrEqual(800);
  });
});

describe('the environment of a page', () => {
  const allPages = (environment: Environment) => {
    const pages = new CheckoutPages(environment, readLogo);
    const known = LANGUAGES.flatMap((language) =>
      PAYMENT_STATUSES.flatMap((status) =>
        [0, 1_000].map((seconds) => {
          const nowMs = NOW_MS + seconds * 1_000;
          return pages.page({ ...PAGE, language, nowMs, payment: { ...PAYMENT, status, paidAt: new Date(NOW_MS) } });
        }),
      ),
    );
    const others = LANGUAGES.flatMap((language) => [
      pages.unknown(language),
      pages.failed('busy', language),
      pages.failed('unavailable', language),
    ]);
    return [...known, ...others];
  };

  it('each page of the sandbox has its name in the title, in a bar and all over the card of a payment', () => {
    for (const html of allPages('sandbox')) {
      expect(html).toMatch(/<title>SANDBOX · /);
      expect(html).toContain('<aside class="environment" aria-label="SANDBOX">');
      expect(html.includes('<svg class="watermark"')).toBe(/class="merchant[ "]/.test(html));
      expect(html.includes('<text class="code-watermark"')).toBe(html.includes('<figure>'));
    }
  });

  it('no page of production has it', () => {
    for (const html of allPages('production')) expect(html).not.toMatch(/sandbox|environment|watermark/i);
  });

  it('saved image and receipt have it in the sandbox only, in their bar and all over them', async () => {
    for (const language of LANGUAGES) {
      const cardsOf = (isSandbox: boolean) => [
        codeCard(PAYLOAD, PAYMENT, { language, isSandbox }),
        receiptCard(PAID, NOW_MS, { language, isSandbox }),
      ];
      for (const { environment } of cardsOf(true)) expect(environment).toEqual(SANDBOX_TEXTS[language]);
      expect(JSON.stringify(cardsOf(false))).not.toMatch(/sandbox/i);
    }
    const receipts = (['sandbox', 'production'] as const).map((environment) =>
      new CheckoutPages(environment, readLogo).receipt(PAID, 'id', NOW_MS),
    );
    const [marked, plain] = await Promise.all(receipts.map(async (image) => readImage(await image)));
    // Left of all texts, below the bar, only the word of the watermark is.
    const leftEdge = { left: 0, top: 100, width: 40, height: 1_000 };
    expect([marked?.isBlank(leftEdge), plain?.isBlank(leftEdge)]).toEqual([false, true]);
  });
});

describe('the images of a payment', () => {
  const production = () => new CheckoutPages('production', readLogo);

  it.each(LANGUAGES)('%s: an image has the texts of the page, in its order', (language) => {
    const look = { language, isSandbox: true };
    const pageOf = (payment: CheckoutPayment) => textOf(renderCheckoutPage({ ...PAGE, payment, language }));
    for (const [card, text] of [
      [codeCard(WARUNG_PAYLOAD, WITH_SHOP, look), pageOf(WITH_SHOP)],
      [receiptCard({ ...PAID, ...SHOP }, NOW_MS, look), pageOf({ ...PAID, ...SHOP })],
    ] as const) {
      const texts = textsOf(card);
      expect(texts.length).toBeGreaterThan(10);
      let at = 0;
      for (const part of texts) {
        expect([part, text.indexOf(part, at)]).not.toEqual([part, -1]);
        at = text.indexOf(part, at) + part.length;
      }
    }
  });

  it('an image has the light colours of the pages', () => {
    const tokens = readFileSync(path.join(PACKAGE_ROOT, 'src/web/ui/files/tokens.css'), 'utf8');
    for (const [name, colour] of Object.entries(COLOURS)) {
      const variable = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
      expect(tokens).toContain(`--${variable}: light-dark(${colour},`);
    }
  });

  it('an image begins with the colour of the shop, and its logo or its initials', async () => {
    const payment = { ...WITH_SHOP, accent: '#ff6600' };
    const logo = { hash: LOGO_HASH, width: 40, height: 40 };
    const images = await Promise.all([
      production().code(WARUNG_PAYLOAD, payment, 'id'),
      production().code(WARUNG_PAYLOAD, { ...payment, logo }, 'id'),
      production().code(WARUNG_PAYLOAD, { ...payment, logo: { ...logo, hash: 'removed' } }, 'id'),
      production().code(WARUNG_PAYLOAD, WITH_SHOP, 'id'),
    ]);
    const [initials, withLogo, removed, plain] = await Promise.all(images.map(readImage));
    expect([initials, withLogo, removed, plain].map((image) => image?.colourAt(5, 5))).toEqual([
      '#ff6600',
      '#ff6600',
      '#ff6600',
      '#ffffff',
    ]);
    const head = { left: 0, top: 45, width: 900, height: 120 };
    expect([initials, withLogo, removed, plain].map((image) => image?.has(LOGO_COLOUR, head))).toEqual([
      false,
      true,
      false,
      false,
    ]);
    expect([initials, removed].map((image) => image?.has('#ff6600', head))).toEqual([true, true]);
    expect(plain?.has(COLOURS.good, head)).toBe(true);
  });

  it('long names, numbers and amounts stay between the edges of a portrait of at least 800 pixels', async () => {
    const long = {
      ...WITH_SHOP,
      merchantName: 'Warung Kopi Senja Bandung'.repeat(4),
      totalRupiah: 10_000_000,
      merchantReferenceId: 'ORDER-2026-'.repeat(20),
      description: 'kopi'.repeat(60),
    };
    const paid = { ...long, status: 'refund_failed', paidAt: new Date(NOW_MS) } as const;
    const images = await Promise.all([
      ...LANGUAGES.map((language) => production().code(WARUNG_PAYLOAD, long, language)),
      ...LANGUAGES.map((language) => production().receipt(paid, language, NOW_MS)),
    ]);
    for (const { width, height, isBlank } of await Promise.all(images.map(readImage))) {
      expect(width).toBeGreaterThanOrEqual(800);
      expect(height).toBeGreaterThan(width);
      expect(isBlank({ left: 0, top: 0, width: 42, height })).toBe(true);
      expect(isBlank({ left: width - 42, top: 0, width: 42, height })).toBe(true);
    }
  });

  it('a receipt has the drawn tick of the page, and a refund has none', async () => {
    const images = await Promise.all([
      production().receipt(PAID, 'id', NOW_MS),
      production().receipt({ ...PAID, accent: '#ff6600', status: 'refunded' }, 'id', NOW_MS),
    ]);
    const [paid, refunded] = await Promise.all(images.map(readImage));
    const below = { left: 0, top: 200, width: 900, height: 300 };
    expect([paid?.has(COLOURS.good, below), refunded?.has(COLOURS.good, below)]).toEqual([true, false]);
  });
});

/** The texts of a card, from its top to its bottom. */
function textsOf({ shop, environment, parts }: Card): string[] {
  const lines = parts.flatMap((part) => {
    switch (part.kind) {
      case 'icon':
        return [];
      case 'line':
        return [part.text];
      case 'deadline':
        return [part.label, part.time];
      case 'code':
        return ['QRIS', part.anyApp, ...part.caption.map(({ text }) => text)];
      case 'facts':
        return part.rows.flat();
    }
  });
  return [...(environment === null ? [] : [environment.name, environment.explanation]), shop.merchantName, ...lines];
}

/** What a reader of a page sees of its body. */
function textOf(html: string): string {
  return html
    .slice(html.indexOf('<body>'))
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll('&nbsp;', '\u00a0')
    .replaceAll(/ +/g, ' ');
}

interface Area {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** The pixels of an image. */
async function readImage(png: Buffer) {
  const image = await loadImage(png);
  const { width, height } = image;
  const context = createCanvas(width, height).getContext('2d');
  context.drawImage(image, 0, 0);
  const coloursIn = ({ left, top, ...size }: Area): Set<string> => {
    const { data } = context.getImageData(left, top, size.width, Math.min(size.height, height - top));
    const pixels = new DataView(data.buffer, data.byteOffset, data.byteLength);
    const colours = Array.from({ length: data.length / 4 }, (_, index) => pixels.getUint32(index * 4) >>> 8);
    return new Set(Array.from(new Set(colours), (colour) => `#${colour.toString(16).padStart(6, '0')}`));
  };
  return {
    width,
    height,
    colourAt: (left: number, top: number) => [...coloursIn({ left, top, width: 1, height: 1 })].join(''),
    has: (colour: string, area: Area) => coloursIn(area).has(colour),
    isBlank: (area: Area) => [...coloursIn(area)].join('') === '#ffffff',
  };
}
