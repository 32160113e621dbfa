import { renderToStaticMarkup } from 'react-dom/server';
import type { Language } from '../../../../src/domain/sign-in';
import { merchantView } from '../../../../src/web/dashboard/merchant-view';
import { PaymentFacts, type FactsOfPayment } from '../../../../src/web/dashboard/payments/payment-facts';
import { memberVisit } from '../../../support/member-visit';

const AT = new Date('2026-11-29T00:00:00Z');

const PAYMENT = {
  referenceId: 'LN0000000000000001',
  merchantReferenceId: null,
  totalRupiah: 100_000,
  netRupiah: 99_300,
  feeRupiah: 700,
  feePayer: 'merchant',
  provider: 'gopay',
  status: 'paid',
  createdAt: AT,
  paidAt: AT,
  expiresAt: AT,
  qrisPayload: null,
} as const;

const NONE = { description: null, returnUrl: null };

/** The text of the page's facts. */
function textOf(language: Language, vatRupiah: number, details: FactsOfPayment['details'] = NONE): string {
  const view = merchantView({ environment: 'sandbox' }, memberVisit(language));
  const payment = { ...PAYMENT, vatRupiah };
  const page = PaymentFacts({ view, payment, details, origin: undefined, statusKey: 'paid 3' });
  return renderToStaticMarkup(page)
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ');
}

it.each([
  ['en', 'Fee Rp 700 , of which VAT Rp 69 Fee paid by'],
  ['id', 'Rp 700 , termasuk PPN Rp 69 '],
] as const)('the page of a payment shows the VAT of its fee in %s', (language, text) => {
  expect(textOf(language, 69)).toContain(text);
});

it('a payment without VAT shows none', () => {
  expect(textOf('en', 0)).toContain('Fee Rp 700 Fee paid by');
});

it('the page of a payment shows its description, and of its return URL the host', () => {
  const details = { description: 'Kopi susu', returnUrl: 'https://shop.example:8443/o/7?token=abc' };
  const text = textOf('en', 0, details);
  for (const part of ['Kopi susu', ' shop.example:8443 ']) expect(text).toContain(part);
  expect(text).not.toContain('token');
});
