import type { LatePaymentStatus } from '../../domain/late-payment';
import type { Language } from '../../domain/sign-in';
import type { CheckoutState } from './checkout-state';

export interface StateTexts {
  readonly title: string;
  readonly explanation: string;
}

/** Why there is no page: the limit of a network, or a problem of the service. */
export type PageFailure = 'busy' | 'unavailable';

/** What the page lists about the payment. */
export type FactName =
  | 'order'
  | 'description'
  | 'total'
  | 'paid'
  | 'refunded'
  | 'expired'
  | 'cancelled'
  | 'failed'
  | 'shop'
  | 'nmid'
  | 'reference';

/** Every text of the page in one language. */
export interface Texts {
  readonly otherLanguage: string;
  readonly states: Readonly<Record<CheckoutState, StateTexts>>;
  /** For money that arrives after the end; `none` before any has arrived. */
  readonly latePayments: Readonly<Record<LatePaymentStatus | 'none', string>>;
  readonly total: string;
  readonly appShows: string;
  readonly facts: Readonly<Record<FactName, string>>;
  readonly timeLeft: string;
  readonly payBefore: string;
  readonly codeName: string;
  readonly payOnPhone: string;
  readonly payOnPhoneHint: string;
  readonly saveImage: string;
  readonly howToPay: string;
  readonly steps: readonly string[];
  readonly samePhone: string;
  readonly samePhoneSteps: readonly string[];
  readonly anyApp: string;
  readonly checkApp: string;
  readonly saveReceipt: string;
  readonly print: string;
  readonly backToShop: string;
  /** The texts around the number of seconds until the customer is back at the shop. */
  readonly returning: readonly [before: string, after: string];
  readonly stay: string;
  readonly contact: string;
  readonly fiveMinutesLeft: string;
  readonly oneMinuteLeft: string;
  readonly reload: string;
  /** Shown while the status cannot be read. */
  readonly offline: string;
  readonly unknown: StateTexts & { readonly askShop: string };
  /** The page of a request that failed. */
  readonly failed: Readonly<Record<PageFailure, StateTexts>>;
  readonly tryAgain: string;
  readonly showCashier: string;
  /** For a page without the way to the shop or its contact. */
  readonly askShop: (merchant: string) => string;
}

const INDONESIAN: Texts = {
  otherLanguage: 'English',
  states: {
    preparing: { title: 'Menyiapkan kode QR', explanation: 'Tunggu sebentar. Kode QR akan segera tampil di sini.' },
    waiting: { title: 'Bayar dengan QRIS', explanation: 'Gunakan aplikasi bank atau dompet digital apa pun.' },
    checking: {
      title: 'Waktu pembayaran habis',
      explanation: 'Kami sedang memeriksa apakah pembayaran Anda sudah masuk. Jangan bayar kode ini lagi.',
    },
    paid: { title: 'Pembayaran berhasil', explanation: 'Terima kasih. Pembayaran Anda sudah kami terima.' },
    refund_processing: {
      title: 'Pengembalian dana diproses',
      explanation: 'Uang Anda sedang dikembalikan ke rekening atau dompet yang Anda pakai untuk membayar.',
    },
    refund_failed: {
      title: 'Pengembalian dana tertunda',
      explanation:
        'Pengembalian dana belum berhasil. Kami sedang menanganinya. Hubungi toko jika Anda punya pertanyaan.',
    },
    refunded: {
      title: 'Dana sudah dikembalikan',
      explanation: 'Uang Anda sudah dikembalikan ke rekening atau dompet yang Anda pakai untuk membayar.',
    },
    expired: {
      title: 'Pembayaran kedaluwarsa',
      explanation: 'Batas waktu sudah lewat. Jangan bayar kode ini lagi. Buat pesanan baru di toko jika masih perlu.',
    },
    cancelled: {
      title: 'Pembayaran dibatalkan',
      explanation:
        'Toko membatalkan pembayaran ini. Jangan bayar kode ini lagi. Minta kode baru ke toko jika masih perlu.',
    },
    failed: {
      title: 'Pembayaran gagal',
      explanation: 'Pembayaran ini tidak dapat diproses. Jangan bayar kode ini lagi. Kembali ke toko dan mulai ulang.',
    },
  },
  latePayments: {
    none: 'Jika Anda terlanjur membayar setelah itu, uangnya dikembalikan kepada Anda dan tidak dipakai untuk pesanan.',
    received: 'Kami menerima uang yang terlambat. Uang itu akan dikembalikan kepada Anda.',
    submitted: 'Kami menerima uang yang terlambat. Pengembaliannya sedang diproses.',
    refunded: 'Uang yang terlambat sudah dikembalikan kepada Anda.',
    manual_review: 'Kami menerima uang yang terlambat. Petugas kami memeriksa pengembaliannya.',
  },
  total: 'Total pembayaran',
  appShows: 'Di aplikasi Anda tertulis',
  facts: {
    order: 'Nomor pesanan',
    description: 'Untuk',
    total: 'Jumlah',
    paid: 'Dibayar',
    refunded: 'Dikembalikan',
    expired: 'Berakhir',
    cancelled: 'Dibatalkan',
    failed: 'Gagal',
    shop: 'Nama di aplikasi',
    nmid: 'NMID',
    reference: 'Nomor transaksi',
  },
  timeLeft: 'Sisa waktu',
  payBefore: 'Bayar sebelum',
  codeName: 'Kode QRIS',
  payOnPhone: 'Bayar dengan aplikasi di ponsel ini',
  payOnPhoneHint: 'Bagikan atau simpan gambar QR, lalu buka dari galeri di aplikasi bank Anda.',
  saveImage: 'Simpan gambar QR',
  howToPay: 'Cara membayar',
  steps: [
    'Buka aplikasi bank atau dompet digital Anda.',
    'Pilih Bayar, Pindai, atau QRIS, lalu arahkan kamera ke kode ini.',
    'Pastikan nama dan jumlahnya sama, lalu bayar.',
  ],
  samePhone: 'Membayar dari ponsel yang sama',
  samePhoneSteps: [
    'Bagikan atau simpan gambar QR dengan tombol di atas.',
    'Buka aplikasi bank atau dompet digital Anda, lalu pilih Pindai atau QRIS.',
    'Pilih gambar dari galeri, lalu gambar QR yang baru disimpan.',
    'Periksa nama dan jumlahnya, lalu bayar sebelum batas waktu.',
  ],
  anyApp: 'Satu QRIS untuk semua',
  checkApp: 'Cek aplikasi penyelenggara di www.aspi-qris.id',
  saveReceipt: 'Simpan bukti',
  print: 'Cetak',
  backToShop: 'Kembali ke toko',
  returning: ['Anda kembali ke toko dalam', 'detik.'],
  stay: 'Tetap di sini',
  contact: 'Ada pertanyaan? Hubungi toko:',
  fiveMinutesLeft: 'Sisa waktu lima menit.',
  oneMinuteLeft: 'Sisa waktu satu menit.',
  reload: 'Periksa status',
  offline: 'Tidak ada koneksi. Status diperbarui begitu tersambung lagi.',
  unknown: {
    title: 'Halaman tidak ditemukan',
    explanation: 'Alamat pembayaran ini tidak ada. Mungkin tautannya terpotong saat disalin.',
    askShop: 'Buka lagi tautan lengkap dari toko, atau minta tautan baru. Jangan bayar lewat alamat lain.',
  },
  failed: {
    busy: {
      title: 'Tunggu sebentar',
      explanation: 'Terlalu banyak permintaan datang dari jaringan Anda. Coba lagi beberapa detik lagi.',
    },
    unavailable: {
      title: 'Halaman belum dapat ditampilkan',
      explanation:
        'Ada gangguan pada layanan. Kalau Anda sudah membayar, jangan bayar lagi: buka lagi halaman ini nanti.',
    },
  },
  tryAgain: 'Coba lagi',
  showCashier: 'Tunjukkan halaman ini kepada kasir.',
  askShop: (merchant) => `Ada pertanyaan? Tanyakan kepada ${merchant}.`,
};

const ENGLISH: Texts = {
  otherLanguage: 'Bahasa Indonesia',
  states: {
    preparing: { title: 'Preparing the QR code', explanation: 'One moment. The QR code will appear here.' },
    waiting: { title: 'Pay with QRIS', explanation: 'Use any bank or e-wallet app that supports QRIS.' },
    checking: {
      title: 'The time to pay is over',
      explanation: 'We are checking whether your payment has arrived. Do not pay this code any more.',
    },
    paid: { title: 'Payment successful', explanation: 'Thank you. We have received your payment.' },
    refund_processing: {
      title: 'Refund in progress',
      explanation: 'Your money is being returned to the account or wallet with which you paid.',
    },
    refund_failed: {
      title: 'Refund delayed',
      explanation: 'The refund has not succeeded yet. We are working on it. Contact the shop if you have questions.',
    },
    refunded: {
      title: 'Payment refunded',
      explanation: 'Your money was returned to the account or wallet with which you paid.',
    },
    expired: {
      title: 'Payment expired',
      explanation: 'The deadline has passed. Do not pay this code any more. Order again at the shop if you need to.',
    },
    cancelled: {
      title: 'Payment cancelled',
      explanation:
        'The shop cancelled this payment. Do not pay this code any more. Ask the shop for a new one if you need to.',
    },
    failed: {
      title: 'Payment failed',
      explanation: 'This payment could not be processed. Do not pay this code any more. Start again at the shop.',
    },
  },
  latePayments: {
    none: 'If you pay after that by mistake, the money is returned to you and does not count for the order.',
    received: 'We received money after the end. It will be returned to you.',
    submitted: 'We received money after the end. Its refund is in progress.',
    refunded: 'The money that arrived after the end was returned to you.',
    manual_review: 'We received money after the end. Our staff is checking its refund.',
  },
  total: 'Total to pay',
  appShows: 'Your app shows the name',
  facts: {
    order: 'Order number',
    description: 'For',
    total: 'Amount',
    paid: 'Paid',
    refunded: 'Refunded',
    expired: 'Expired',
    cancelled: 'Cancelled',
    failed: 'Failed',
    shop: 'Name in the app',
    nmid: 'NMID',
    reference: 'Transaction number',
  },
  timeLeft: 'Time left',
  payBefore: 'Pay before',
  codeName: 'QRIS code',
  payOnPhone: 'Pay with an app on this phone',
  payOnPhoneHint: 'Share or save the QR image, then open it from the gallery in your bank app.',
  saveImage: 'Save QR image',
  howToPay: 'How to pay',
  steps: [
    'Open your bank or e-wallet app.',
    'Choose Pay, Scan or QRIS, and point the camera at this code.',
    'Check that name and amount are the same, then pay.',
  ],
  samePhone: 'Pay on this phone',
  samePhoneSteps: [
    'Share or save the QR image with the button above.',
    'Open your bank or e-wallet app, and choose Scan or QRIS.',
    'Choose an image from the gallery, then the image that you have just saved.',
    'Check the name and the amount, then pay before the deadline.',
  ],
  anyApp: 'One QRIS for all apps',
  checkApp: 'Check the providers of apps at www.aspi-qris.id',
  saveReceipt: 'Save the receipt',
  print: 'Print',
  backToShop: 'Back to the shop',
  returning: ['You return to the shop in', 'seconds.'],
  stay: 'Stay here',
  contact: 'Questions? Contact the shop:',
  fiveMinutesLeft: 'Five minutes left.',
  oneMinuteLeft: 'One minute left.',
  reload: 'Check the status',
  offline: 'No connection. The status is updated once it is back.',
  unknown: {
    title: 'Page not found',
    explanation: 'This payment address does not exist. The link may have been cut when it was copied.',
    askShop: 'Open the complete link of the shop again, or ask it for a new one. Do not pay at another address.',
  },
  failed: {
    busy: {
      title: 'One moment, please',
      explanation: 'Too many requests came from your network. Try again in some seconds.',
    },
    unavailable: {
      title: 'The page cannot be shown now',
      explanation: 'The service has a problem. If you have already paid, do not pay again: open this page again later.',
    },
  },
  tryAgain: 'Try again',
  showCashier: 'Show this page to the cashier.',
  askShop: (merchant) => `Questions? Ask ${merchant}.`,
};

export const TEXTS: Readonly<Record<Language, Texts>> = { id: INDONESIAN, en: ENGLISH };

const RUPIAH = new Intl.NumberFormat('id-ID', { style: 'currency', currency: 'IDR', maximumFractionDigits: 0 });

/** Formats an amount as bank apps in Indonesia show it, in both languages. */
export function formatRupiah(amountRupiah: number): string {
  return RUPIAH.format(amountRupiah);
}

const timestampFormats = (locale: string) => ({
  minute: new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short', timeZone: 'Asia/Jakarta' }),
  second: new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium', timeZone: 'Asia/Jakarta' }),
});
const TIMESTAMP_FORMATS = { id: timestampFormats('id-ID'), en: timestampFormats('en-GB') } as const;

/** In Jakarta's time zone, which it names. */
export function formatTimestamp(timestamp: Date, language: Language, to: 'minute' | 'second' = 'minute'): string {
  return `${TIMESTAMP_FORMATS[language][to].format(timestamp)} WIB`;
}
