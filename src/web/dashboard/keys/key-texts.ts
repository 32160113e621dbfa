import type { KeyState, MerchantScope } from '../../../domain/key-access';
import type { Language } from '../../../domain/sign-in';
import type { ActionTexts } from '../activity/recorded-action';
import { SHARED_EN, SHARED_ID } from '../texts/shared-texts';

const EN_STATES = {
  active: 'Active',
  expiring: 'Expires soon',
  expired: 'Expired',
  revoked: 'Revoked',
} satisfies Record<KeyState, string>;

const ID_STATES = {
  active: 'Aktif',
  expiring: 'Segera kedaluwarsa',
  expired: 'Kedaluwarsa',
  revoked: 'Dicabut',
} satisfies Record<KeyState, string>;

const EN_SCOPES = {
  read: 'Read payments',
  create: 'Create payments',
  cancel: 'Cancel payments',
  refund: 'Refund payments',
  customers: 'Read data of customers',
} satisfies Record<MerchantScope, string>;

const ID_SCOPES = {
  read: 'Membaca pembayaran',
  create: 'Membuat pembayaran',
  cancel: 'Membatalkan pembayaran',
  refund: 'Mengembalikan dana',
  customers: 'Membaca data pelanggan',
} satisfies Record<MerchantScope, string>;

const EN_SHORT_SCOPES = {
  read: 'read',
  create: 'create',
  cancel: 'cancel',
  refund: 'refund',
  customers: 'customers',
} satisfies Record<MerchantScope, string>;

const ID_SHORT_SCOPES = {
  read: 'baca',
  create: 'buat',
  cancel: 'batalkan',
  refund: 'kembalikan',
  customers: 'pelanggan',
} satisfies Record<MerchantScope, string>;

/** The actions of keys, as the activity names them. */
export const KEY_ACTION_TEXTS = {
  en: {
    'key.create': 'Created a key',
    'key.update': 'Changed a key',
    'key.rotate': 'Rotated a key',
    'key.revoke': 'Revoked a key',
  },
  id: {
    'key.create': 'Membuat kunci',
    'key.update': 'Mengubah kunci',
    'key.rotate': 'Mengganti kunci',
    'key.revoke': 'Mencabut kunci',
  },
} satisfies ActionTexts;

const en = {
  title: 'API keys',
  caption: 'API keys, the newest first',
  explanation:
    'Your server sends a key with each request to the API. Keep it on the server: never in an app or a page.',
  nothing: 'No keys. Create one for your server.',
  columns: {
    name: 'Name',
    state: 'State',
    key: 'Key',
    scopes: 'Allows',
    networks: 'From',
    expires: 'Expires',
    lastUsed: 'Last used',
  },
  unnamed: 'No name',
  states: EN_STATES,
  scopes: EN_SCOPES,
  shortScopes: EN_SHORT_SCOPES,
  everything: 'Everything',
  anywhere: 'Anywhere',
  never: 'Never',
  detail: {
    facts: 'Details',
    created: 'Created',
    createdBy: 'Created by',
    lunas: 'Lunas',
    lastUsedFrom: (address: string) => `from ${address}`,
    revokedAt: 'Revoked',
    requests: 'Requests with this key',
    edit: 'Edit',
    rotate: 'Rotate',
    revoke: 'Revoke',
    foreign: (reason: string) => `Edit and rotate: ${reason}`,
    ended: 'This key can no longer be used. Create a new one.',
    done: {
      saved: 'The changes are saved. They are in force within a second.',
      revoked: 'The key is revoked. The API rejects it within a second.',
    },
  },
  form: {
    newTitle: 'New key',
    editTitle: 'Edit the key',
    name: 'Name',
    nameHint: 'Where you use it, such as “Shop server”',
    scopes: 'The key allows',
    networks: 'Allowed addresses (optional)',
    networksHint:
      'IP addresses or networks of your servers, one a line, such as 198.51.100.0/24. Empty: from anywhere.',
    yourAddress: 'Your address is',
    outside: (address: string) =>
      `Your own address ${address} is not in this list: a request from here is rejected with api_key_ip_not_allowed.`,
    expiry: 'Expiry',
    expiries: { none: 'None', 30: '30 days', 90: '90 days', 365: '365 days', date: 'On a day' },
    expiryDay: 'Last day',
    create: 'Create key',
    save: 'Save',
    cancel: 'Back',
    errorTitle: SHARED_EN.checkFields,
    errors: {
      name: 'Write a name of 1 to 64 characters.',
      scopes: 'Choose at least one.',
      foreign_scopes: SHARED_EN.aboveOwnRights,
      networks: 'Write IP addresses or networks such as 203.0.113.7 or 198.51.100.0/24, at most 50.',
      expiry: 'Choose an expiry.',
      day: 'Choose a day after today, within ten years.',
      repeated: SHARED_EN.sentTwice,
      form: SHARED_EN.noFormId,
    },
  },
  issued: {
    title: 'Your new key',
    once: 'Copy the key now. It is shown only once, and Lunas does not store it.',
    secret: 'Secret key',
    address: 'Address of Lunas',
    test: 'Try it',
    testHint: 'Paste this line into a terminal of your server:',
    oldKey: 'The old key can be used until',
    done: 'I have stored the key',
    exists: {
      title: 'The key exists',
      text: 'The key exists. Its secret is shown only once.',
      lost: 'If you have not stored it, rotate the key or create a new one.',
      show: 'Show the key',
    },
  },
  rotate: {
    title: 'Rotate the key?',
    explanation:
      'You get a new key with the same name, rights and addresses. Give it to your server, then the old one ends.',
    overlap: 'The old key works for another',
    overlaps: { 0: '0 hours: it ends now', 1: '1 hour', 24: '24 hours', 72: '72 hours' },
    button: 'Create the new key',
    newExpiry: 'The new key expires after the same number of days as the old one.',
  },
  revoke: {
    title: 'Revoke the key?',
    explanation: 'The API rejects the key within a second. This cannot be undone.',
    neverUsed: 'Never',
    button: 'Revoke the key',
    revoked: 'This key is revoked already.',
  },
};

export type KeyTexts = typeof en;

const id: KeyTexts = {
  title: 'Kunci API',
  caption: 'Kunci API, yang terbaru lebih dulu',
  explanation: 'Server Anda mengirim kunci pada setiap permintaan ke API. Simpan hanya di server, jangan di aplikasi.',
  nothing: 'Belum ada kunci. Buat satu untuk server Anda.',
  columns: {
    name: 'Nama',
    state: 'Status',
    key: 'Kunci',
    scopes: 'Izin',
    networks: 'Dari',
    expires: 'Berakhir',
    lastUsed: 'Terakhir dipakai',
  },
  unnamed: 'Tanpa nama',
  states: ID_STATES,
  scopes: ID_SCOPES,
  shortScopes: ID_SHORT_SCOPES,
  everything: 'Semua',
  anywhere: 'Mana saja',
  never: 'Tanpa batas',
  detail: {
    facts: 'Rincian',
    created: 'Dibuat',
    createdBy: 'Dibuat oleh',
    lunas: 'Tim Lunas',
    lastUsedFrom: (address) => `dari ${address}`,
    revokedAt: 'Dicabut',
    requests: 'Permintaan dengan kunci ini',
    edit: 'Ubah',
    rotate: 'Ganti kunci',
    revoke: 'Cabut',
    foreign: (reason) => `Ubah dan ganti kunci: ${reason}`,
    ended: 'Kunci ini tidak dapat dipakai lagi. Buat kunci baru.',
    done: {
      saved: 'Perubahan disimpan dan berlaku dalam satu detik.',
      revoked: 'Kunci dicabut. API menolaknya dalam satu detik.',
    },
  },
  form: {
    newTitle: 'Kunci baru',
    editTitle: 'Ubah kunci',
    name: 'Nama',
    nameHint: 'Tempat kunci dipakai, misalnya “Server toko”',
    scopes: 'Kunci ini mengizinkan',
    networks: 'Alamat yang diizinkan (opsional)',
    networksHint:
      'Alamat IP atau jaringan server Anda, satu per baris, misalnya 198.51.100.0/24. Kosong: dari mana saja.',
    yourAddress: 'Alamat Anda',
    outside: (address) =>
      `Alamat Anda sendiri, ${address}, tidak ada dalam daftar: permintaan dari sini ditolak (api_key_ip_not_allowed).`,
    expiry: 'Masa berlaku',
    expiries: { none: 'Tanpa batas', 30: '30 hari', 90: '90 hari', 365: '365 hari', date: 'Sampai tanggal' },
    expiryDay: 'Hari terakhir',
    create: 'Buat kunci',
    save: 'Simpan',
    cancel: 'Kembali',
    errorTitle: SHARED_ID.checkFields,
    errors: {
      name: 'Tulis nama dengan 1 sampai 64 karakter.',
      scopes: 'Pilih paling sedikit satu.',
      foreign_scopes: SHARED_ID.aboveOwnRights,
      networks: 'Tulis alamat IP atau jaringan seperti 203.0.113.7 atau 198.51.100.0/24, paling banyak 50.',
      expiry: 'Pilih masa berlaku.',
      day: 'Pilih hari setelah hari ini, paling lama sepuluh tahun.',
      repeated: SHARED_ID.sentTwice,
      form: SHARED_ID.noFormId,
    },
  },
  issued: {
    title: 'Kunci baru Anda',
    once: 'Salin kunci ini sekarang. Kunci hanya ditampilkan sekali dan tidak disimpan oleh Lunas.',
    secret: 'Kunci rahasia',
    address: 'Alamat Lunas',
    test: 'Coba',
    testHint: 'Tempel baris ini di terminal server Anda:',
    oldKey: 'Kunci lama dapat dipakai sampai',
    done: 'Kunci sudah saya simpan',
    exists: {
      title: 'Kunci sudah ada',
      text: 'Kunci sudah ada. Rahasianya hanya ditampilkan sekali.',
      lost: 'Jika belum Anda simpan, ganti kunci itu atau buat yang baru.',
      show: 'Lihat kunci',
    },
  },
  rotate: {
    title: 'Ganti kunci?',
    explanation:
      'Anda mendapat kunci baru dengan nama, izin, dan alamat yang sama. Pasang sebelum kunci lama berakhir.',
    overlap: 'Kunci lama masih berlaku',
    overlaps: { 0: '0 jam: langsung berakhir', 1: '1 jam', 24: '24 jam', 72: '72 jam' },
    button: 'Buat kunci baru',
    newExpiry: 'Masa berlaku kunci baru sama panjangnya dengan kunci lama.',
  },
  revoke: {
    title: 'Cabut kunci?',
    explanation: 'API menolak kunci ini dalam satu detik. Pencabutan tidak dapat dibatalkan.',
    neverUsed: 'Belum pernah',
    button: 'Cabut kunci',
    revoked: 'Kunci ini sudah dicabut.',
  },
};

export const KEY_TEXTS: Readonly<Record<Language, KeyTexts>> = { id, en };
