import type { Language } from '../../../domain/sign-in';

const en = {
  export: 'Export CSV',
  exportLimit: (rows: number, cursor: string) =>
    `Only the first ${rows} payments. The next export begins with: older=${cursor}`,
  amount: 'Total',
  provider: 'Provider',
  allProviders: 'All',
  moreFilters: 'More filters',
  searched: 'Searched the newest 2,000 of these payments. Older ones are on the next page.',
  newPayments: (count: string) => (count === '1' ? '1 new payment.' : `${count} new payments.`),
  show: 'Show',
  stale: 'The payment has changed since this page was opened. Check its status, then confirm again.',
  customer: {
    title: 'Customer',
    link: 'Customer data',
    recorded: 'Each reading of this page is recorded in the activity of the merchant.',
    none: 'The payment has no customer data.',
    name: 'Name',
    email: 'E-mail',
    phone: 'Phone',
    metadata: 'Metadata',
  },
  minutes: (minutes: number) => (minutes === 1 ? '(1 minute)' : `(${minutes} minutes)`),
  createdBy: 'Created by',
  key: 'API key',
  feePayer: 'Fee paid by',
  feePayers: { merchant: 'You', buyer: 'Customer' },
  policy: 'Policy',
  policyVersion: (version: number) => `Version ${version}`,
  settledAfter: (duration: string) => `settled after ${duration}`,
  settledByLunas: 'settled by Lunas',
  request: 'Request id',
  refundNumber: (number: number) => `Refund ${number}`,
  archived: {
    text: 'This payment is in the archive. Its amounts stay in the statements of your balance.',
    statements: 'Open the statements',
    createdOn: 'Created on (UTC)',
    archivedAt: 'In the archive since',
  },
};

type PaymentTexts = typeof en;

const id: PaymentTexts = {
  export: 'Unduh CSV',
  exportLimit: (rows, cursor) => `Hanya ${rows} pembayaran pertama. Unduhan berikutnya dimulai dengan: older=${cursor}`,
  amount: 'Total',
  provider: 'Penyedia',
  allProviders: 'Semua',
  moreFilters: 'Filter lain',
  searched: 'Hanya 2.000 pembayaran terbaru yang diperiksa. Yang lebih lama ada di halaman berikutnya.',
  newPayments: (count) => `${count} pembayaran baru.`,
  show: 'Tampilkan',
  stale: 'Pembayaran berubah sejak halaman ini dibuka. Periksa statusnya, lalu konfirmasi lagi.',
  customer: {
    title: 'Pelanggan',
    link: 'Data pelanggan',
    recorded: 'Setiap pembukaan halaman ini dicatat dalam aktivitas toko.',
    none: 'Pembayaran ini tidak memiliki data pelanggan.',
    name: 'Nama',
    email: 'Surel',
    phone: 'Telepon',
    metadata: 'Metadata',
  },
  minutes: (minutes) => `(${minutes} menit)`,
  createdBy: 'Dibuat oleh',
  key: 'Kunci API',
  feePayer: 'Biaya dibayar oleh',
  feePayers: { merchant: 'Anda', buyer: 'Pelanggan' },
  policy: 'Ketentuan',
  policyVersion: (version) => `Versi ${version}`,
  settledAfter: (duration) => `masuk saldo setelah ${duration}`,
  settledByLunas: 'masuk saldo oleh Lunas',
  request: 'ID permintaan',
  refundNumber: (number) => `Pengembalian ${number}`,
  archived: {
    text: 'Pembayaran ini ada di arsip. Jumlahnya tetap ada di laporan saldo Anda.',
    statements: 'Buka laporan saldo',
    createdOn: 'Dibuat pada (UTC)',
    archivedAt: 'Di arsip sejak',
  },
};

/** The texts of the payment pages that no other page has. */
export const PAYMENT_TEXTS: Readonly<Record<Language, PaymentTexts>> = { id, en };
