import type { Language } from '../../../domain/sign-in';
import type { ActionTexts } from '../activity/recorded-action';
import { SHARED_EN, SHARED_ID } from '../texts/shared-texts';

const EN_PING = 'Send a test';

/** The actions of webhooks, as the activity names them. */
export const WEBHOOK_ACTION_TEXTS = {
  en: {
    'webhook.create': 'Created a webhook',
    'webhook.set': 'Changed a webhook',
    'webhook.rotate_secret': 'Rotated a webhook secret',
    'webhook.ping': 'Pinged a webhook',
    'webhook.disable': 'Disabled a webhook',
    'webhook.enable': 'Enabled a webhook',
    'webhook.delete': 'Deleted a webhook',
    'webhook.redeliver': 'Redelivered webhooks',
  },
  id: {
    'webhook.create': 'Membuat webhook',
    'webhook.set': 'Mengubah webhook',
    'webhook.rotate_secret': 'Mengganti rahasia webhook',
    'webhook.ping': 'Menguji webhook',
    'webhook.disable': 'Menonaktifkan webhook',
    'webhook.enable': 'Mengaktifkan webhook',
    'webhook.delete': 'Menghapus webhook',
    'webhook.redeliver': 'Mengirim ulang webhook',
  },
} satisfies ActionTexts;

const en = {
  title: 'Webhooks',
  caption: 'Endpoints, the oldest first',
  explanation:
    'Lunas sends the events of your payments, payouts and invoices to your endpoints, signed with their secrets.',
  nothing: 'No endpoints. Without one, read the status by the API.',
  create: 'New endpoint',
  columns: { url: 'Address', events: 'Events', state: 'State', pending: 'Waiting' },
  allEvents: 'All events of payments',
  states: { enabled: 'Enabled', disabled: 'Disabled', failing: 'Failing' },
  disabledBy: {
    gone: 'Your server responded with 410: the endpoint is gone.',
    failing: 'It failed for five days.',
    operator: 'Lunas disabled it.',
    merchant: 'A member of yours disabled it.',
  },
  failingSince: 'Failing since',
  nextProbe: 'Next attempt',
  probeHint: 'Until one attempt succeeds, its deliveries wait.',
  form: {
    newTitle: 'New endpoint',
    editTitle: 'Change the endpoint',
    url: 'Address of your server',
    urlHint: 'Such as https://shop.example/webhooks',
    scope: 'Events',
    scopes: { all: 'All events of payments, also future ones', listed: 'Only these:' },
    groups: { payments: 'Payments', latePayments: 'Late payments', payouts: 'Payouts', invoices: 'Fee invoices' },
    expand: 'The body of a payment has also',
    expandHint: 'A change is valid for the next attempts, also those that wait.',
    create: 'Create endpoint',
    save: 'Save',
    cancel: 'Back',
    errorTitle: SHARED_EN.checkFields,
    errors: {
      form: SHARED_EN.noFormId,
      events: 'Choose at least one event, or all.',
      foreign_members: SHARED_EN.aboveOwnRights,
      url: 'Write the address of your server, at most 2,048 characters.',
      not_absolute: 'The address has to begin with http:// or https://.',
      characters: 'The address must not contain white space, a backslash or a control character.',
      not_https: 'The address has to begin with https://.',
      credentials: 'The address must not contain a user name or a password.',
      port: 'The address must not name a port.',
      localhost: 'The address must not be localhost.',
      not_public: 'The address must not lead to an internal network.',
    },
  },
  secret: {
    title: 'The secret of the endpoint',
    once: 'Copy the secret now: it is shown only once.',
    name: 'Secret',
    verify: 'Verify a webhook in Node.js',
    oldEnded: 'The old secret does not sign any more.',
    oldEnds: 'The old secret signs until',
    done: 'I have copied it',
    duplicate:
      'Another enabled endpoint has the same address: your server receives twice what both send. ' +
      'If you only need a new secret, create it at that endpoint and delete this one.',
    showDuplicate: 'Show that endpoint',
    exists: 'This was done already. Its secret is shown only once. If you do not have it, create a new one.',
  },
  detail: {
    edit: 'Change',
    rotate: 'New secret',
    ping: EN_PING,
    disable: 'Disable',
    enable: 'Enable',
    delete: 'Delete',
    facts: 'Details',
    url: 'Address',
    id: 'Id',
    expand: 'Adds',
    created: 'Created',
    done: {
      saved: 'The endpoint is changed.',
      disabled: 'The endpoint is disabled. Nothing is sent to it.',
      enabled: 'The endpoint is enabled.',
      deleted: SHARED_EN.endpointDeleted,
    },
  },
  rotate: {
    overlap: 'The old secret signs too for',
    overlaps: { '0': 'No time', '1': '1 hour', '24': '24 hours', '72': '72 hours' },
  },
  confirm: {
    rotate: {
      title: 'Create a new secret?',
      text: 'Until the old one ends, each webhook has a signature of both. Your server may accept either.',
      button: 'Create new secret',
    },
    ping: {
      title: 'Send a test request?',
      text: 'Lunas sends a signed request with the event "ping" now, and shows how your server responds.',
      button: EN_PING,
    },
    disable: {
      title: 'Disable the endpoint?',
      text: 'Nothing is sent to it. Deliveries that wait become dead; after you enable it, you can redeliver them.',
      button: 'Disable',
    },
    enable: {
      title: 'Enable the endpoint?',
      text: 'New events are sent to it again. Redeliver the dead deliveries afterwards.',
      button: 'Enable',
    },
    delete: {
      title: 'Delete the endpoint?',
      text: 'It cannot be restored. Deliveries that wait become dead and are never sent. The history stays.',
      button: 'Delete for good',
    },
  },
  rejections: {
    enabled: 'The endpoint is enabled already.',
    disabled: 'The endpoint is disabled already.',
    ping: 'The result of the test is not known. Try again in a moment.',
    slowPing: 'There is no result after 8 seconds. Your server is probably slow: a webhook fails after 10 seconds.',
  },
  ping: {
    delivered: 'Your server accepted the test.',
    failed: 'Your server did not accept the test.',
    status: 'Status',
    duration: 'Duration',
    failure: 'Failure',
    response: 'Response',
    none: 'No response',
  },
};

export type WebhookTexts = typeof en;

const ID_PING = 'Kirim uji coba';
const ID_ENABLED = 'Endpoint sudah aktif.';

const id: WebhookTexts = {
  title: 'Webhook',
  caption: 'Endpoint, yang terlama lebih dulu',
  explanation:
    'Lunas mengirim peristiwa pembayaran, pencairan, dan faktur ke endpoint Anda, ditandatangani dengan rahasianya.',
  nothing: 'Belum ada endpoint. Tanpa endpoint, baca status lewat API.',
  create: 'Endpoint baru',
  columns: { url: 'Alamat', events: 'Peristiwa', state: 'Status', pending: 'Menunggu' },
  allEvents: 'Semua peristiwa pembayaran',
  states: { enabled: 'Aktif', disabled: 'Nonaktif', failing: 'Gagal' },
  disabledBy: {
    gone: 'Server Anda membalas 410: endpoint sudah tidak ada.',
    failing: 'Endpoint gagal selama lima hari.',
    operator: 'Lunas menonaktifkannya.',
    merchant: 'Anggota Anda menonaktifkannya.',
  },
  failingSince: 'Gagal sejak',
  nextProbe: 'Percobaan berikutnya',
  probeHint: 'Kiriman menunggu sampai satu percobaan berhasil.',
  form: {
    newTitle: 'Endpoint baru',
    editTitle: 'Ubah endpoint',
    url: 'Alamat server Anda',
    urlHint: 'Misalnya https://toko.example/webhooks',
    scope: 'Peristiwa',
    scopes: { all: 'Semua peristiwa pembayaran, juga yang akan datang', listed: 'Hanya ini:' },
    groups: {
      payments: 'Pembayaran',
      latePayments: 'Pembayaran terlambat',
      payouts: 'Pencairan',
      invoices: 'Faktur biaya',
    },
    expand: 'Isi untuk pembayaran juga memuat',
    expandHint: 'Perubahan berlaku untuk percobaan berikutnya, juga yang menunggu.',
    create: 'Buat endpoint',
    save: 'Simpan',
    cancel: 'Kembali',
    errorTitle: SHARED_ID.checkFields,
    errors: {
      form: SHARED_ID.noFormId,
      events: 'Pilih paling sedikit satu peristiwa, atau semua.',
      foreign_members: SHARED_ID.aboveOwnRights,
      url: 'Tulis alamat server Anda, paling banyak 2.048 karakter.',
      not_absolute: 'Alamat harus diawali http:// atau https://.',
      characters: 'Alamat tidak boleh berisi spasi, garis miring terbalik, atau karakter kontrol.',
      not_https: 'Alamat harus diawali https://.',
      credentials: 'Alamat tidak boleh berisi nama pengguna atau kata sandi.',
      port: 'Alamat tidak boleh berisi nomor port.',
      localhost: 'Alamat tidak boleh localhost.',
      not_public: 'Alamat tidak boleh menuju jaringan internal.',
    },
  },
  secret: {
    title: 'Rahasia endpoint',
    once: 'Salin rahasia sekarang: hanya ditampilkan sekali.',
    name: 'Rahasia',
    verify: 'Memeriksa webhook di Node.js',
    oldEnded: 'Rahasia lama sudah tidak berlaku.',
    oldEnds: 'Rahasia lama berlaku sampai',
    done: 'Sudah saya salin',
    duplicate:
      'Endpoint aktif lain memakai alamat yang sama: server Anda menerima dua kali peristiwa yang dikirim keduanya. ' +
      'Jika Anda hanya perlu rahasia baru, buat di endpoint itu dan hapus endpoint ini.',
    showDuplicate: 'Lihat endpoint itu',
    exists: 'Ini sudah dilakukan. Rahasianya hanya ditampilkan sekali. Jika Anda tidak memilikinya, buat yang baru.',
  },
  detail: {
    edit: 'Ubah',
    rotate: 'Rahasia baru',
    ping: ID_PING,
    disable: 'Nonaktifkan',
    enable: 'Aktifkan',
    delete: 'Hapus',
    facts: 'Rincian',
    url: 'Alamat',
    id: 'Id',
    expand: 'Menambahkan',
    created: 'Dibuat',
    done: {
      saved: 'Endpoint sudah diubah.',
      disabled: 'Endpoint sudah nonaktif. Tidak ada yang dikirim ke sana.',
      enabled: ID_ENABLED,
      deleted: SHARED_ID.endpointDeleted,
    },
  },
  rotate: {
    overlap: 'Rahasia lama tetap berlaku selama',
    overlaps: { '0': 'Tidak sama sekali', '1': '1 jam', '24': '24 jam', '72': '72 jam' },
  },
  confirm: {
    rotate: {
      title: 'Buat rahasia baru?',
      text: 'Sampai yang lama berakhir, setiap webhook punya tanda tangan keduanya. Server boleh menerima salah satu.',
      button: 'Buat rahasia baru',
    },
    ping: {
      title: 'Kirim permintaan uji coba?',
      text: 'Lunas mengirim permintaan dengan peristiwa "ping" sekarang, dan menampilkan balasan server Anda.',
      button: ID_PING,
    },
    disable: {
      title: 'Nonaktifkan endpoint?',
      text: 'Tidak ada yang dikirim ke sana. Kiriman yang menunggu menjadi mati; setelah aktif, dapat dikirim ulang.',
      button: 'Nonaktifkan',
    },
    enable: {
      title: 'Aktifkan endpoint?',
      text: 'Peristiwa baru dikirim lagi. Setelah itu, kirim ulang kiriman yang mati.',
      button: 'Aktifkan',
    },
    delete: {
      title: 'Hapus endpoint?',
      text: 'Tidak dapat dikembalikan. Kiriman yang menunggu menjadi mati dan tidak dikirim. Riwayat tetap ada.',
      button: 'Hapus selamanya',
    },
  },
  rejections: {
    enabled: ID_ENABLED,
    disabled: 'Endpoint sudah nonaktif.',
    ping: 'Hasil uji coba belum diketahui. Coba lagi sebentar lagi.',
    slowPing: 'Belum ada hasil setelah 8 detik. Mungkin server Anda lambat: webhook gagal setelah 10 detik.',
  },
  ping: {
    delivered: 'Server Anda menerima uji coba.',
    failed: 'Server Anda tidak menerima uji coba.',
    status: 'Status',
    duration: 'Lama',
    failure: 'Kegagalan',
    response: 'Balasan',
    none: 'Tidak ada balasan',
  },
};

export const WEBHOOK_TEXTS: Readonly<Record<Language, WebhookTexts>> = { id, en };
