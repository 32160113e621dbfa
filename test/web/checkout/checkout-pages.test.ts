import type { Environment } from '../../../src/config';
import { PAYMENT_STATUSES } from '../../../src/domain/payment-transitions';
import { LANGUAGES } from '../../../src/domain/sign-in';
import { codeCard, receiptCard } from '../../../src/web/checkout/cards';
import { CheckoutPages } from '../../../src/web/checkout/checkout-pages';
import type { CheckoutPage, CheckoutPayment } from '../../../src/web/checkout/checkout-state';
import { renderCheckoutPage } from '../../../src/web/checkout/page';

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
    const pages = new CheckoutPages('sandbox');
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
    const pages = new CheckoutPages('sandbox');
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
    const pages = new CheckoutPages('sandbox');
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
    const image = await new CheckoutPages('sandbox').code('a'.repeat(512), payment, 'id');
    expect(image.readUInt32BE(16)).toBeGreaterThanOrEqual(800);
  });
});

describe('the environment of a page', () => {
  const allPages = (environment: Environment) => {
    const pages = new CheckoutPages(environment);
    const known = LANGUAGES.flatMap((language) =>
      PAYMENT_STATUSES.flatMap((status) =>
        [0, 1_000].map((seconds) => {
          const nowMs = NOW_MS + seconds * 1_000;
          return pages.page({ ...PAGE, language, nowMs, payment: { ...PAYMENT, status, paidAt: new Date(NOW_MS) } });
        }),
      ),
    );
    return [...known, ...LANGUAGES.map((language) => pages.unknown(language))];
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

  it('saved image and receipt have it in the sandbox only, in their text and all over them', async () => {
    const paid = { ...PAYMENT, status: 'paid', paidAt: new Date(NOW_MS) } as const;
    for (const language of LANGUAGES) {
      const cardsOf = (isSandbox: boolean) => [
        codeCard(PAYLOAD, PAYMENT, { language, isSandbox }),
        receiptCard(paid, NOW_MS, { language, isSandbox }),
      ];
      for (const { above, mark } of cardsOf(true)) {
        expect([above[0], mark]).toEqual([
          expect.objectContaining({ text: expect.stringMatching(/^SANDBOX · /) }),
          'SANDBOX',
        ]);
      }
      expect(JSON.stringify(cardsOf(false))).not.toMatch(/sandbox/i);
    }
    const receipts = (['sandbox', 'production'] as const).map((environment) =>
      new CheckoutPages(environment).receipt(paid, 'id', NOW_MS),
    );
    const [marked, plain] = await Promise.all(receipts);
    expect(marked?.equals(plain ?? Buffer.of())).toBe(false);
  });
});
