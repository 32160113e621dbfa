import type { KeyState, MerchantScope } from '../../../domain/key-access';
import type { Language } from '../../../domain/sign-in';

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
} satisfies Record<MerchantScope, string>;

const ID_SCOPES = {
  read: 'Membaca pembayaran',
  create: 'Membuat pembayaran',
  cancel: 'Membatalkan pembayaran',
  refund: 'Mengembalikan dana',
} satisfies Record<MerchantScope, string>;

const en = {
  title: 'API keys',
  caption: 'API keys, the newest first',
  explanation:
    'Your server sends a key with each request to the API. Keep it on the server: never in an app or a page.',
  nothing: 'No keys. Create one for your server.',
  create: 'New key',
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
  everything: 'Everything',
  anywhere: 'Anywhere',
  never: 'Never',
};

export type KeyTexts = typeof en;

const id: KeyTexts = {
  title: 'Kunci API',
  caption: 'Kunci API, yang terbaru lebih dulu',
  explanation: 'Server Anda mengirim kunci pada setiap permintaan ke API. Simpan hanya di server, jangan di aplikasi.',
  nothing: 'Belum ada kunci. Buat satu untuk server Anda.',
  create: 'Kunci baru',
  columns: {
    name: 'Nama',
    state: 'Status',
    key: 'Kunci',
    scopes: 'Izin',
    networks: 'Dari',
    expires: 'Berlaku sampai',
    lastUsed: 'Terakhir dipakai',
  },
  unnamed: 'Tanpa nama',
  states: ID_STATES,
  scopes: ID_SCOPES,
  everything: 'Semua',
  anywhere: 'Mana saja',
  never: 'Tanpa batas',
};

export const KEY_TEXTS: Readonly<Record<Language, KeyTexts>> = { id, en };
