import type { Language } from '../../../domain/sign-in';

const en = {
  title: 'Fee invoices',
  explanation: 'What Lunas has charged for the payments and payouts of each month, and what it has credited.',
  caption: 'Fee invoices and credit notes, the newest first',
  linesCaption: 'Fees by kind and rate',
  lines: 'Lines',
  nothing: 'No fee invoices yet. The first one is issued after the end of a month with payments.',
  kind: 'Kind',
  pdf: 'Download PDF',
  csv: 'Download CSV',
  checksum: 'SHA-256 of this document, as in its PDF',
  pager: { newer: 'Newest', older: 'Older', name: 'Pages of the fee invoices' },
};

const id: typeof en = {
  title: 'Faktur biaya',
  explanation: 'Biaya dari Lunas untuk pembayaran dan pencairan setiap bulan, dan koreksinya.',
  caption: 'Faktur biaya dan nota kredit, dari yang terbaru',
  linesCaption: 'Biaya menurut jenis dan tarif',
  lines: 'Rincian',
  nothing: 'Belum ada faktur biaya. Yang pertama terbit setelah akhir bulan yang memiliki pembayaran.',
  kind: 'Jenis',
  pdf: 'Unduh PDF',
  csv: 'Unduh CSV',
  checksum: 'SHA-256 dokumen ini, seperti pada PDF-nya',
  pager: { newer: 'Terbaru', older: 'Lebih lama', name: 'Halaman faktur biaya' },
};

/** What only the pages of invoices show, beside the texts of the invoice itself. */
export const INVOICE_PAGE_TEXTS: Readonly<Record<Language, typeof en>> = { id, en };
