import type { Language } from '../../../domain/sign-in';
import type { ActionTexts } from '../activity/recorded-action';
import { SHARED_EN, SHARED_ID } from '../texts/shared-texts';

/** The actions of the settings, as the activity names them. */
export const SETTINGS_ACTION_TEXTS = {
  en: {
    'merchant.set': 'Changed the settings',
    'merchant.set_accent': 'Changed the colour of the checkout page',
    'merchant.set_logo': 'Changed the logo',
    'merchant.remove_logo': 'Removed the logo',
  },
  id: {
    'merchant.set': 'Mengubah pengaturan',
    'merchant.set_accent': 'Mengubah warna halaman pembayaran',
    'merchant.set_logo': 'Mengganti logo',
    'merchant.remove_logo': 'Menghapus logo',
  },
} satisfies ActionTexts;

const en = {
  title: 'Settings',
  saved: 'The settings are saved.',
  byLunas: 'Lunas changes these',
  facts: { name: 'Name', code: 'Code', payer: 'Fee paid by', providers: 'Providers' },
  payers: { merchant: 'Merchant', buyer: 'Customer' },
  terms: 'Terms of new payments',
  termsHint: 'Lunas changes these. A payment keeps the terms of the moment when it was created.',
  noTerms: 'There are no terms yet, so no payment can be created. Contact Lunas.',
  termColumns: { provider: 'Provider', fee: 'Fee', expiry: 'QR deadline', settlement: 'Settled' },
  expiresAfter: (duration: string) => `QR: ${duration}`,
  settlements: {
    automatic: (after: string | null) =>
      after === null ? 'As soon as it is paid' : `By itself, ${after} after it is paid`,
    manual: (after: string | null) => (after === null ? 'By Lunas' : `By Lunas, at the earliest after ${after}`),
  },
  own: 'You change these',
  ownOfOthers: 'Owners change these',
  edit: 'Change',
  editTitle: 'Change settings',
  back: 'Back',
  zone: 'Time zone',
  zones: {
    'Asia/Jakarta': 'WIB (Jakarta)',
    'Asia/Makassar': 'WITA (Makassar)',
    'Asia/Jayapura': 'WIT (Jayapura)',
  },
  forSites: 'For a website',
  returnUrl: 'Return address',
  returnHint: 'The link of the checkout page back to your shop. {merchant_reference_id} becomes your order id.',
  contact: 'Contact for customers',
  contactHint: 'The checkout page shows it: an e-mail address, a telephone number, or a link such as https://wa.me/62…',
  origins: 'Addresses of your shops',
  originsHint:
    'Such as https://shop.example. They may show the checkout page in a frame, and a payment may lead back to them. ' +
    'One a line, at most 10.',
  none: 'None',
  save: 'Save',
  errorTitle: SHARED_EN.checkFields,
  errors: {
    zone: 'Choose a time zone.',
    url:
      'Write a full address of your shop, such as https://shop.example/thanks. ' +
      '{merchant_reference_id} may be in its path and query only.',
    contact: 'Write an e-mail address, a telephone number or an address that begins with https://.',
    origins: 'Write at most 10 addresses such as https://shop.example, without a path.',
    form: SHARED_EN.sentTwice,
  },
};

type SettingsTexts = typeof en;

const id: SettingsTexts = {
  title: 'Pengaturan',
  saved: 'Pengaturan disimpan.',
  byLunas: 'Diubah oleh tim Lunas',
  facts: { name: 'Nama', code: 'Kode', payer: 'Biaya ditanggung', providers: 'Penyedia' },
  payers: { merchant: 'Toko', buyer: 'Pelanggan' },
  terms: 'Ketentuan pembayaran baru',
  termsHint: 'Diubah oleh tim Lunas. Pembayaran memakai ketentuan yang berlaku saat dibuat.',
  noTerms: 'Belum ada ketentuan, jadi pembayaran belum dapat dibuat. Hubungi Lunas.',
  termColumns: { provider: 'Penyedia', fee: 'Biaya', expiry: 'Batas QR', settlement: 'Penyelesaian' },
  expiresAfter: (duration) => `QR: ${duration}`,
  settlements: {
    automatic: (after) => (after === null ? 'Segera setelah dibayar' : `Otomatis, ${after} setelah dibayar`),
    manual: (after) => (after === null ? 'Oleh tim Lunas' : `Oleh tim Lunas, paling cepat setelah ${after}`),
  },
  own: 'Dapat Anda ubah',
  ownOfOthers: 'Diubah oleh pemilik',
  edit: 'Ubah',
  editTitle: 'Ubah pengaturan',
  back: 'Kembali',
  zone: 'Zona waktu',
  zones: {
    'Asia/Jakarta': 'WIB (Jakarta)',
    'Asia/Makassar': 'WITA (Makassar)',
    'Asia/Jayapura': 'WIT (Jayapura)',
  },
  forSites: 'Untuk situs web',
  returnUrl: 'Alamat kembali',
  returnHint: 'Tautan halaman pembayaran kembali ke toko Anda. {merchant_reference_id} menjadi nomor pesanan Anda.',
  contact: 'Kontak untuk pelanggan',
  contactHint: 'Tampil di halaman pembayaran: alamat email, nomor telepon, atau tautan seperti https://wa.me/62…',
  origins: 'Alamat toko Anda',
  originsHint:
    'Misalnya https://toko.example. Alamat ini boleh menampilkan halaman pembayaran di dalam bingkai, dan pembayaran ' +
    'boleh kembali ke sana. Satu per baris, paling banyak 10.',
  none: 'Tidak ada',
  save: 'Simpan',
  errorTitle: SHARED_ID.checkFields,
  errors: {
    zone: 'Pilih zona waktu.',
    url:
      'Tulis alamat lengkap toko Anda, misalnya https://toko.example/terima-kasih. ' +
      '{merchant_reference_id} hanya boleh di jalur dan kueri.',
    contact: 'Tulis alamat email, nomor telepon, atau alamat yang diawali https://.',
    origins: 'Tulis paling banyak 10 alamat seperti https://toko.example, tanpa jalur.',
    form: SHARED_ID.sentTwice,
  },
};

export const SETTINGS_TEXTS: Readonly<Record<Language, SettingsTexts>> = { id, en };
