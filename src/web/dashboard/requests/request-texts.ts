import type { Language } from '../../../domain/sign-in';
import { SHARED_EN, SHARED_ID } from '../texts/shared-texts';

/** The groups of status codes in the list of requests. */
export const STATUS_CLASSES = ['all', 'successful', 'rejected', 'failed'] as const;
export type StatusClass = (typeof STATUS_CLASSES)[number];

const EN_CLASSES = {
  all: 'All',
  successful: 'Successful',
  rejected: 'Rejected (4xx)',
  failed: 'Failed (5xx)',
} satisfies Record<StatusClass, string>;

const ID_CLASSES = {
  all: 'Semua',
  successful: 'Berhasil',
  rejected: 'Ditolak (4xx)',
  failed: 'Gagal (5xx)',
} satisfies Record<StatusClass, string>;

const en = {
  title: 'API requests',
  caption: 'Requests to the API, the newest first',
  explanation: 'The newest requests of your servers. Bodies are not stored.',
  columns: {
    time: 'Time',
    request: 'Request',
    status: 'Status',
    error: 'Error',
    duration: 'Duration',
    key: 'Key',
    payments: 'Payments',
  },
  classes: EN_CLASSES,
  classesName: 'Status',
  from: 'From day',
  to: 'To day',
  key: 'Key',
  allKeys: 'All keys',
  filters: SHARED_EN.filter,
  apply: 'Show',
  clear: 'Clear filters',
  nothing: 'Nothing on these days. Requests with your keys appear here within two seconds.',
  noMatch: SHARED_EN.noMatch,
  limited: 'Searched the newest 2,000 requests of these days. Choose fewer days, or search the older ones.',
  pager: { newer: 'Newest', older: 'Older', name: 'Pages' },
  closed: 'Closed',
  closedHint: 'Your server closed the connection before the response was complete.',
  ignoredHint: 'Lunas does not know some names in this request, and ignored them. Compare them with the documentation.',
  ignored: (count: number) => `${count} ignored`,
  noPayments: 'None',
  payments: (count: number) => (count === 1 ? '1 payment' : `${count} payments`),
  milliseconds: (count: string) => `${count} ms`,
  errorTitle: SHARED_EN.wrongFilter,
  errors: {
    day: SHARED_EN.dayFormat,
    order: SHARED_EN.dayOrder,
    cursor: 'This page of the list does not exist. Start again from the newest request.',
    class: SHARED_EN.noStatus,
    key: 'There is no such key.',
    repeated: SHARED_EN.givenTwice,
  },
  detail: {
    title: 'Request',
    id: 'Request id',
    method: 'Method',
    path: 'Path',
    code: 'Error code',
    reason: 'Reason',
    fields: 'Ignored fields',
    parameters: 'Ignored parameters',
    earlier: 'Earlier requests with the same id',
  },
};

export type RequestTexts = typeof en;

const id: RequestTexts = {
  title: 'Permintaan API',
  caption: 'Permintaan ke API, yang terbaru lebih dulu',
  explanation: 'Permintaan terbaru dari server Anda. Isinya tidak disimpan.',
  columns: {
    time: 'Waktu',
    request: 'Permintaan',
    status: 'Status',
    error: 'Kesalahan',
    duration: 'Durasi',
    key: 'Kunci',
    payments: 'Pembayaran',
  },
  classes: ID_CLASSES,
  classesName: 'Status',
  from: 'Dari hari',
  to: 'Sampai hari',
  key: 'Kunci',
  allKeys: 'Semua kunci',
  filters: SHARED_ID.filter,
  apply: 'Tampilkan',
  clear: 'Hapus filter',
  nothing: 'Tidak ada data pada hari-hari ini. Permintaan dengan kunci Anda muncul di sini dalam dua detik.',
  noMatch: SHARED_ID.noMatch,
  limited:
    'Yang dicari: 2.000 permintaan terbaru pada hari-hari ini. Pilih lebih sedikit hari, atau cari yang lebih lama.',
  pager: { newer: 'Terbaru', older: 'Lebih lama', name: 'Halaman' },
  closed: 'Terputus',
  closedHint: 'Server Anda menutup koneksi sebelum tanggapan lengkap.',
  ignoredHint:
    'Lunas tidak mengenal beberapa nama dalam permintaan ini dan mengabaikannya. Bandingkan dengan dokumentasi.',
  ignored: (count) => `${count} diabaikan`,
  noPayments: 'Tidak ada',
  payments: (count) => `${count} pembayaran`,
  milliseconds: (count) => `${count} md`,
  errorTitle: SHARED_ID.wrongFilter,
  errors: {
    day: SHARED_ID.dayFormat,
    order: SHARED_ID.dayOrder,
    cursor: 'Halaman daftar ini tidak ada. Mulai lagi dari permintaan terbaru.',
    class: SHARED_ID.noStatus,
    key: 'Kunci ini tidak ada.',
    repeated: SHARED_ID.givenTwice,
  },
  detail: {
    title: 'Permintaan',
    id: 'Nomor permintaan',
    method: 'Metode',
    path: 'Alamat',
    code: 'Kode kesalahan',
    reason: 'Alasan',
    fields: 'Isian yang diabaikan',
    parameters: 'Parameter yang diabaikan',
    earlier: 'Permintaan sebelumnya dengan nomor yang sama',
  },
};

export const REQUEST_TEXTS: Readonly<Record<Language, RequestTexts>> = { id, en };
