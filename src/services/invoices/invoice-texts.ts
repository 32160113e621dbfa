import type { FeeInvoice, InvoiceLine } from '../../domain/fee-invoice';
import { formatRupiah } from '../../domain/money';
import { rateText } from '../../domain/rate-text';
import type { Language } from '../../domain/sign-in';

const en = {
  kinds: { invoice: 'Fee invoice', credit_note: 'Credit note' },
  lineKinds: {
    payment: 'Payments',
    payout: 'Payouts',
    payout_returned_fee: 'Payouts cancelled or failed, fee given back',
    payout_conflict: 'Payouts executed after a failure',
  },
  number: 'Number',
  issuedOn: 'Date',
  month: 'Month (WIB)',
  part: (part: number) => `part ${part}`,
  corrects: 'For invoice',
  correction: (number: string) => `Correction of invoice ${number}`,
  company: 'From',
  merchant: 'To',
  taxNumber: 'Tax number (NPWP)',
  columns: {
    kind: 'Description',
    rate: 'Rate',
    count: 'Count',
    turnover: 'Turnover',
    fee: 'Fee incl. VAT',
    vat: 'Of which VAT',
  },
  withoutVat: 'Fee without VAT',
  vat: 'VAT (PPN)',
  total: 'Total including VAT',
  settled: {
    deducted: 'These fees are already deducted. There is nothing to pay.',
    givenBack: 'This amount is already in your balance.',
  },
  page: (page: number, of: number) => `Page ${page} of ${of}`,
};

export type InvoiceTexts = typeof en;

const id: InvoiceTexts = {
  kinds: { invoice: 'Faktur biaya', credit_note: 'Nota kredit' },
  lineKinds: {
    payment: 'Pembayaran',
    payout: 'Pencairan',
    payout_returned_fee: 'Pencairan dibatalkan atau gagal, biaya dikembalikan',
    payout_conflict: 'Pencairan terlaksana setelah gagal',
  },
  number: 'Nomor',
  issuedOn: 'Tanggal',
  month: 'Bulan (WIB)',
  part: (part) => `bagian ${part}`,
  corrects: 'Untuk faktur',
  correction: (number) => `Koreksi faktur ${number}`,
  company: 'Dari',
  merchant: 'Kepada',
  taxNumber: 'NPWP',
  columns: {
    kind: 'Keterangan',
    rate: 'Tarif',
    count: 'Banyaknya',
    turnover: 'Nilai transaksi',
    fee: 'Biaya termasuk PPN',
    vat: 'PPN di dalamnya',
  },
  withoutVat: 'Biaya tanpa PPN',
  vat: 'PPN',
  total: 'Total termasuk PPN',
  settled: {
    deducted: 'Biaya ini sudah dipotong. Tidak ada yang perlu dibayar.',
    givenBack: 'Jumlah ini sudah masuk ke saldo Anda.',
  },
  page: (page, of) => `Halaman ${page} dari ${of}`,
};

/** What an invoice states, on its page and in its PDF. */
export const INVOICE_TEXTS: Readonly<Record<Language, InvoiceTexts>> = { id, en };

/** Every invoice has it in both languages, because a tax office may read it. */
export const NO_TAX_INVOICE = ['Dokumen ini bukan faktur pajak.', 'This is not a tax invoice (faktur pajak).'] as const;

/** Why nothing is left to pay. An invoice is below zero if its payouts gave more fees back than it charges. */
export function settledText(language: Language, { feeRupiah }: Pick<FeeInvoice, 'feeRupiah'>): string {
  return INVOICE_TEXTS[language].settled[feeRupiah < 0 ? 'givenBack' : 'deducted'];
}

/** `0.7 %`; of payouts the fee of each; `–` if no rate was captured. */
export function invoiceRateText(
  language: Language,
  { kind, basisPoints, flatRupiah }: Pick<InvoiceLine, 'kind' | 'basisPoints' | 'flatRupiah'>,
): string {
  if (basisPoints === null || flatRupiah === null) return '–';
  return kind === 'payment' ? rateText(language, basisPoints, flatRupiah) : formatRupiah(flatRupiah);
}
