import { PAYMENT_STATUSES } from '../../../src/domain/payment-transitions';
import { LANGUAGES } from '../../../src/domain/sign-in';
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
  nowMs: NOW_MS,
};

describe('a page from the memory', () => {
  it.each(PAYMENT_STATUSES)('%s: is the one that would be rendered, at each time and in each language', (status) => {
    const pages = new CheckoutPages();
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
    const pages = new CheckoutPages();
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
    const pages = new CheckoutPages();
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
    const image = await new CheckoutPages().code('a'.repeat(512), payment, 'id');
    expect(image.readUInt32BE(16)).toBe(600);
  });
});
