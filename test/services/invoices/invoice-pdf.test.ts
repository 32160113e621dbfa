import type { FeeInvoice, InvoiceLine, InvoiceParties } from '../../../src/domain/fee-invoice';
import { renderInvoicePdf } from '../../../src/services/invoices/invoice-pdf';
import { readPdfPages, readPdfText, textOfPage } from '../../support/pdf';

const SHA256 = 'a1b2c3d4e5f60718'.repeat(4);

const LINE: InvoiceLine = {
  kind: 'payment',
  class: 'UKE',
  basisPoints: 70,
  flatRupiah: 0,
  count: 12_345,
  turnoverRupiah: 1_234_567_890,
  feeRupiah: 8_641_975,
  vatRupiah: 856_412,
};
const RETURNED: InvoiceLine = {
  kind: 'payout_returned_fee',
  class: null,
  basisPoints: 0,
  flatRupiah: 2_500,
  count: 1,
  turnoverRupiah: -400_000,
  feeRupiah: -2_500,
  vatRupiah: 0,
};

const INVOICE: FeeInvoice = {
  id: '0193e5c0-0000-7000-8000-000000000001',
  number: 'FI-2026-000123',
  sequence: 123,
  merchantId: '0193e5c0-0000-7000-8000-000000000002',
  kind: 'invoice',
  month: '2026-11',
  part: 1,
  corrects: null,
  fromPostingId: 0,
  upToPostingId: 9,
  feeRupiah: 8_639_475,
  vatRupiah: 856_412,
  lines: [LINE, RETURNED],
  sha256: SHA256,
  // 1 December in WIB.
  issuedAt: new Date('2026-11-30T17:30:00Z'),
};
const CREDIT_NOTE: FeeInvoice = {
  ...INVOICE,
  kind: 'credit_note',
  number: 'CN-2026-000124',
  corrects: INVOICE.number,
  feeRupiah: -1_110,
  vatRupiah: -110,
  lines: [],
};

const PARTIES: InvoiceParties = {
  company: { legalName: 'PT Lunas', address: 'Jl. Sudirman 1, Jakarta 12190', taxNumber: '012345678901234' },
  merchant: { legalName: 'CV Kopi Bersama', address: 'Jl. Braga 12, Bandung 40111', taxNumber: '1234567890123456' },
};

const english = (invoice: FeeInvoice, parties = PARTIES) => renderInvoicePdf({ invoice, parties, language: 'en' });

/** Texts in the order in which they have to stand. */
function expectInOrder(text: string, parts: readonly string[]): void {
  const lines = text.split('\n');
  let from = 0;
  for (const part of parts) {
    const found = lines.indexOf(part, from);
    expect([part, found >= from]).toEqual([part, true]);
    from = found + 1;
  }
}

it.each([
  ['en', ['Fee invoice', INVOICE.number, '1 December 2026', 'November 2026'], ['Payments', '0.7 %']],
  ['id', ['Faktur biaya', INVOICE.number, '1 Desember 2026', 'November 2026'], ['Pembayaran', '0,7 %']],
] as const)('an invoice in %s: head, parties, lines, sums and SHA-256', async (language, head, line) => {
  const text = readPdfText(await renderInvoicePdf({ invoice: INVOICE, parties: PARTIES, language }));
  expectInOrder(text, [...head, 'PT Lunas', 'Jl. Sudirman 1, Jakarta 12190', 'CV Kopi Bersama']);
  expectInOrder(text, [...line, '12.345', 'Rp 1.234.567.890', 'Rp 8.641.975', 'Rp 856.412']);
  expectInOrder(text, ['Rp 2.500', '1', '-Rp 400.000', '-Rp 2.500', 'Rp 0']);
  expectInOrder(text, ['Rp 7.783.063', 'Rp 856.412', 'Rp 8.639.475']);
  expectInOrder(text, ['Dokumen ini bukan faktur pajak.', 'This is not a tax invoice (faktur pajak).']);
  expect(text).toContain(`SHA-256 ${SHA256}`);
  for (const { taxNumber } of Object.values(PARTIES)) expect(text).toContain(taxNumber);
});

it('a credit note refers to its invoice, and its amounts are below zero', async () => {
  const text = readPdfText(await english(CREDIT_NOTE));
  expectInOrder(text, ['Credit note', 'CN-2026-000124', 'For invoice', 'FI-2026-000123']);
  expectInOrder(text, ['-Rp 1.110', '-Rp 110', '-Rp 1.000', '-Rp 110', '-Rp 1.110']);
});

it('an invoice whose payouts gave more fees back than it charges owes nothing, as a credit note', async () => {
  const text = readPdfText(await english({ ...INVOICE, feeRupiah: -2_500, vatRupiah: 0, lines: [RETURNED] }));
  expectInOrder(text, ['Total including VAT', '-Rp 2.500', 'This amount is already in your balance.']);
  expectInOrder(readPdfText(await english(INVOICE)), ['These fees are already deducted. There is nothing to pay.']);
});

it('the same invoice has the same bytes, with the time of its issue', async () => {
  const [first, second] = [await english(INVOICE), await english(INVOICE)];
  expect(second.equals(first)).toBe(true);
  expect(first.toString('latin1').match(/D:\d+Z/g)).toEqual(['D:20261130173000Z']);
});

const withRates = (count: number) =>
  english({ ...INVOICE, lines: Array.from({ length: count }, (_, basisPoints) => ({ ...LINE, basisPoints })) });

it('an invoice with 200 rates has 11 pages with the columns on each, and at most 60 kB', async () => {
  const file = await withRates(200);
  const pages = readPdfPages(file).map(textOfPage);
  expect(pages.map((text) => /^Page \d+ of \d+$/m.exec(text)?.[0])).toEqual(
    Array.from({ length: 11 }, (_, index) => `Page ${index + 1} of 11`),
  );
  for (const text of pages) expect(text).toMatch(/^Description$[^]*^Payments$[^]*SHA-256/m);
  expectInOrder(pages.join('\n'), ['0 %', '0.39 %', '1.99 %', 'Rp 8.639.475']);
  expect(file.length).toBeLessThan(60_000);
});

it.each([14, 15, 16, 17, 18, 19, 20])(
  'the last of %d rates is on the page of the sums, above the footer',
  async (count) => {
    const page = readPdfPages(await withRates(count)).at(-1) ?? '';
    expectInOrder(textOfPage(page), ['Description', `0.${count - 1} %`, 'VAT (PPN)', 'Total including VAT']);
    const heights = Array.from(page.matchAll(/^1 0 0 1 \S+ (\S+) Tm$/gm), ([, height]) => Number(height));
    const footer = heights.splice(-2);
    expect(Math.min(...heights)).toBeGreaterThan(Math.max(...footer));
  },
);

it('a merchant without an identity has only its name, also one that the font lacks', async () => {
  const merchant = { legalName: 'Café “Śląsk” 株', address: null, taxNumber: null };
  const file = await english({ ...INVOICE, part: 2 }, { ...PARTIES, merchant });
  expectInOrder(readPdfText(file), ['November 2026, part 2', 'PT Lunas', 'Caf\u00e9 \u0093Slask\u0094 ?']);
});
