import type { Language } from '../../../domain/sign-in';
import type { ActionTexts } from '../activity/recorded-action';
import { SHARED_EN, SHARED_ID } from '../texts/shared-texts';

/** The actions of payments, as the activity names them. */
export const PAYMENT_ACTION_TEXTS = {
  en: {
    'payments.export': 'Exported payments',
    'shift.export': 'Exported a shift',
    'payment.create': 'Created a payment',
    'payment.refund': 'Refunded a payment',
    'payment.cancel': 'Cancelled a payment',
    'payment.cancel_refund': 'Cancelled a refund',
  },
  id: {
    'payments.export': 'Mengekspor pembayaran',
    'shift.export': 'Mengekspor sif',
    'payment.create': 'Membuat pembayaran',
    'payment.refund': 'Mengembalikan dana',
    'payment.cancel': 'Membatalkan pembayaran',
    'payment.cancel_refund': 'Membatalkan pengembalian dana',
  },
} satisfies ActionTexts;

const en = {
  export: 'Download CSV',
  exportLimit: (rows: number, cursor: string) =>
    `Only the first ${rows} payments. The next export begins with: older=${cursor}`,
  amount: 'Total',
  provider: 'Provider',
  providerHint: 'Customers can pay with any app, whichever provider you choose.',
  more: {
    label: 'More',
    description: 'Description (optional)',
    descriptionHint: 'What the customer pays for, on the payment page and the receipt',
    expiresIn: 'The QR works for',
    asUsual: 'As usual',
  },
  noReturn: (providers: string) => `A payment by ${providers} can be neither cancelled nor refunded.`,
  appShows: "The customer's app shows the name",
  amountResult: {
    merchant: (net: string) => `You receive ${net}`,
    buyer: (total: string) => `The customer pays ${total}`,
  },
  lastAmounts: 'Last amounts',
  deleteDigit: 'Delete the last digit',
  dayTotal: (payments: number) => `Your paid QRs today: ${payments}`,
  allProviders: 'All',
  moreFilters: SHARED_EN.filter,
  searched: 'Searched the newest 2,000 of these payments. Older ones are on the next page.',
  moreFound: 'More payments match. Write more of the number to find an older one.',
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
  hours: (hours: number) => `(${hours} hours)`,
  createdBy: 'Created by',
  key: 'API key',
  ofWhichVat: (vat: string) => `, of which VAT ${vat}`,
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
  providerHint: 'Pelanggan dapat membayar dengan aplikasi apa pun, penyedia mana pun yang Anda pilih.',
  more: {
    label: 'Lainnya',
    description: 'Keterangan (opsional)',
    descriptionHint: 'Untuk apa pelanggan membayar, di halaman pembayaran dan struk',
    expiresIn: 'QR berlaku selama',
    asUsual: 'Seperti biasa',
  },
  noReturn: (providers) => `Pembayaran lewat ${providers} tidak dapat dibatalkan dan dananya tidak dapat dikembalikan.`,
  appShows: 'Di aplikasi pelanggan tertulis',
  amountResult: {
    merchant: (net) => `Anda menerima ${net}`,
    buyer: (total) => `Pelanggan membayar ${total}`,
  },
  lastAmounts: 'Jumlah terakhir',
  deleteDigit: 'Hapus angka terakhir',
  dayTotal: (payments) => `QR Anda yang dibayar hari ini: ${payments}`,
  allProviders: 'Semua',
  moreFilters: SHARED_ID.filter,
  searched: 'Hanya 2.000 pembayaran terbaru yang diperiksa. Yang lebih lama ada di halaman berikutnya.',
  moreFound: 'Masih ada pembayaran lain yang cocok. Tulis nomornya lebih lengkap untuk mencari yang lebih lama.',
  newPayments: (count) => `${count} pembayaran baru.`,
  show: 'Tampilkan',
  stale: 'Pembayaran berubah sejak halaman ini dibuka. Periksa statusnya, lalu konfirmasi lagi.',
  customer: {
    title: 'Pelanggan',
    link: 'Data pelanggan',
    recorded: 'Setiap pembukaan halaman ini dicatat dalam aktivitas toko.',
    none: 'Pembayaran ini tidak memiliki data pelanggan.',
    name: 'Nama',
    email: 'Email',
    phone: 'Telepon',
    metadata: 'Metadata',
  },
  minutes: (minutes) => `(${minutes} menit)`,
  hours: (hours) => `(${hours} jam)`,
  createdBy: 'Dibuat oleh',
  key: 'Kunci API',
  ofWhichVat: (vat) => `, termasuk PPN ${vat}`,
  feePayer: 'Biaya dibayar oleh',
  feePayers: { merchant: 'Anda', buyer: 'Pelanggan' },
  policy: 'Ketentuan',
  policyVersion: (version) => `Versi ${version}`,
  settledAfter: (duration) => `masuk saldo setelah ${duration}`,
  settledByLunas: 'dimasukkan ke saldo oleh tim Lunas',
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
