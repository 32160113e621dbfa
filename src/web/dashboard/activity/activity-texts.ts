import type { RecordedOutcome } from '../../../domain/recorded-outcome';
import type { Language } from '../../../domain/sign-in';
import { BANK_ACCOUNT_ACTION_TEXTS } from '../bank-account/bank-account-texts';
import { KEY_ACTION_TEXTS } from '../keys/key-texts';
import { LINK_ACTION_TEXTS } from '../links/link-texts';
import { NOTICE_ACTION_TEXTS } from '../notices/notice-texts';
import { PAYMENT_ACTION_TEXTS } from '../payments/payment-texts';
import { PAYOUT_ACTION_TEXTS } from '../payouts/payout-texts';
import { SETTINGS_ACTION_TEXTS } from '../settings/settings-texts';
import { MEMBER_ACTION_TEXTS } from '../team/team-texts';
import { SHARED_EN, SHARED_ID } from '../texts/shared-texts';
import { WEBHOOK_ACTION_TEXTS } from '../webhooks/webhook-texts';
import type { RecordedAction } from './recorded-action';

/** What a person did, in words: a name without a text does not compile. */
const EN_ACTIONS = {
  'session.sign_in': 'Signed in',
  'session.sign_out': 'Signed out',
  'session.end': 'Ended a session',
  'session.end_others': 'Ended all other sessions',
  'profile.set': 'Changed the profile',
  'security.step_up': 'Proved their identity',
  'security.set_password': 'Changed the password',
  'security.set_totp': 'Set up the authenticator app',
  'security.set_recovery_codes': 'Made new recovery codes',
  'security.add_passkey': 'Added a passkey',
  'security.rename_passkey': 'Renamed a passkey',
  'security.remove_passkey': 'Removed a passkey',
  'security.reset': 'Reset the login',
  'member.join': 'Joined the team',
  ...PAYMENT_ACTION_TEXTS.en,
  ...LINK_ACTION_TEXTS.en,
  'customer.read': 'Viewed customer data',
  'activity.export': 'Exported the activity',
  'statement.export': 'Exported a statement of the balance',
  'invoice.export': 'Exported the lines of a fee invoice',
  ...MEMBER_ACTION_TEXTS.en,
  ...SETTINGS_ACTION_TEXTS.en,
  ...NOTICE_ACTION_TEXTS.en,
  ...KEY_ACTION_TEXTS.en,
  ...BANK_ACCOUNT_ACTION_TEXTS.en,
  ...PAYOUT_ACTION_TEXTS.en,
  ...WEBHOOK_ACTION_TEXTS.en,
  'merchant.create': 'Created the merchant',
  'merchant.set_identity': 'Recorded who the merchant is',
  'merchant.approve': 'Approved the merchant',
  'merchant.suspend': 'Suspended the merchant',
  'merchant.set_fee_payer': 'Changed who pays the fee',
  'fee.agree': 'Recorded an agreed fee',
  'merchant.hold': 'Put the merchant on hold',
  'merchant.release': 'Ended the hold of the merchant',
  'bank_account.verify': 'Asked the bank for the holder again',
  'bank_account.approve': 'Approved a bank account',
  'bank_account.reject': 'Rejected a bank account',
  'bank_account.suspend': 'Suspended a bank account',
  'bank_account.reactivate': 'Reactivated a bank account',
  'user.invite': 'Invited a person as Lunas',
  'user.reset': 'Made a reset link as Lunas',
  'user.confirm': 'Confirmed who has a login',
  'user.disable': 'Disabled a login',
  'sandbox.trigger': 'Triggered an event in the sandbox',
} satisfies Record<RecordedAction, string>;

const ID_ACTIONS = {
  'session.sign_in': 'Masuk',
  'session.sign_out': 'Keluar',
  'session.end': 'Mengakhiri sesi',
  'session.end_others': 'Mengakhiri semua sesi lain',
  'profile.set': 'Mengubah profil',
  'security.step_up': 'Membuktikan identitas',
  'security.set_password': 'Mengganti kata sandi',
  'security.set_totp': 'Memasang aplikasi autentikator',
  'security.set_recovery_codes': 'Membuat kode pemulihan baru',
  'security.add_passkey': 'Menambahkan kunci sandi',
  'security.rename_passkey': 'Mengganti nama kunci sandi',
  'security.remove_passkey': 'Menghapus kunci sandi',
  'security.reset': 'Mengatur ulang akses masuk',
  'member.join': 'Bergabung dengan tim',
  ...PAYMENT_ACTION_TEXTS.id,
  ...LINK_ACTION_TEXTS.id,
  'customer.read': 'Melihat data pelanggan',
  'activity.export': 'Mengekspor aktivitas',
  'statement.export': 'Mengekspor rekening koran',
  'invoice.export': 'Mengekspor rincian faktur biaya',
  ...MEMBER_ACTION_TEXTS.id,
  ...SETTINGS_ACTION_TEXTS.id,
  ...NOTICE_ACTION_TEXTS.id,
  ...KEY_ACTION_TEXTS.id,
  ...BANK_ACCOUNT_ACTION_TEXTS.id,
  ...PAYOUT_ACTION_TEXTS.id,
  ...WEBHOOK_ACTION_TEXTS.id,
  'merchant.create': 'Membuat toko',
  'merchant.set_identity': 'Mencatat identitas toko',
  'merchant.approve': 'Menyetujui toko',
  'merchant.suspend': 'Menangguhkan toko',
  'merchant.set_fee_payer': 'Mengubah penanggung biaya',
  'fee.agree': 'Mencatat biaya yang disepakati',
  'merchant.hold': 'Menahan toko',
  'merchant.release': 'Mengakhiri penahanan toko',
  'bank_account.verify': 'Menanyakan pemilik rekening kepada bank lagi',
  'bank_account.approve': 'Menyetujui rekening bank',
  'bank_account.reject': 'Menolak rekening bank',
  'bank_account.suspend': 'Menangguhkan rekening bank',
  'bank_account.reactivate': 'Mengaktifkan kembali rekening bank',
  'user.invite': 'Mengundang orang sebagai tim Lunas',
  'user.reset': 'Membuat tautan atur ulang sebagai tim Lunas',
  'user.confirm': 'Memastikan pemilik akses masuk',
  'user.disable': 'Menonaktifkan akses masuk',
  'sandbox.trigger': 'Memicu peristiwa di sandbox',
} satisfies Record<RecordedAction, string>;

/** The actions that belong to a login, not to a merchant. */
const OF_LOGINS = /^(?:session|profile|security)\.|^member\.join$/;

/** The actions that a merchant's list can have. */
export const ACTION_OPTIONS: readonly string[] = Object.keys(EN_ACTIONS).filter((name) => !OF_LOGINS.test(name));

export const isRecordedAction = (name: string): boolean => ACTION_OPTIONS.includes(name);

const EN_OUTCOMES = {
  succeeded: 'Done',
  rejected: 'Rejected',
  indeterminate: 'Not known',
} satisfies Record<RecordedOutcome, string>;

const ID_OUTCOMES = {
  succeeded: 'Berhasil',
  rejected: 'Ditolak',
  indeterminate: 'Tidak diketahui',
} satisfies Record<RecordedOutcome, string>;

const en = {
  title: 'Activity',
  caption: 'What members and Lunas did, the newest first',
  explanation: 'What the members of your team did in the dashboard, and what Lunas changed at your merchant.',
  lunas: 'Lunas',
  columns: {
    time: 'Time',
    person: 'Person',
    action: 'Action',
    object: 'Object',
    outcome: 'Outcome',
    address: 'Address',
  },
  actions: EN_ACTIONS,
  outcomes: EN_OUTCOMES,
  objects: {
    payment: 'Payment',
    payments: 'Payments',
    link: 'Payment link',
    key: 'Key',
    webhook: 'Webhook',
    delivery: 'Delivery',
    deliveries: 'Deliveries',
    member: 'Member',
    team: 'Team',
    settings: 'Settings',
    bankAccount: 'Bank account',
    payout: 'Payout',
    payouts: 'Payouts',
  },
  person: 'Person',
  allPeople: 'Everyone',
  action: 'Action',
  allActions: 'All actions',
  from: 'From day',
  to: 'To day',
  filters: SHARED_EN.filter,
  apply: 'Show',
  clear: 'Clear filters',
  export: 'Download CSV',
  exportLimit: (count: number, id: number) => `More than ${count} rows. The next export begins with older=${id}`,
  nothing: 'Nothing yet. Each change in the dashboard appears here with its person.',
  noMatch: SHARED_EN.noMatch,
  searched: 'Searched 2,000 actions. "Older" searches the ones before them.',
  pager: { newer: 'Newer', older: 'Older', name: 'Pages' },
  errorTitle: SHARED_EN.wrongFilter,
  errors: {
    day: SHARED_EN.dayFormat,
    order: SHARED_EN.dayOrder,
    cursor: 'This page of the list does not exist. Start again from the newest action.',
    person: 'There is no such person.',
    action: 'There is no such action.',
  },
};

export type ActivityTexts = typeof en;

const id: ActivityTexts = {
  title: 'Aktivitas',
  caption: 'Tindakan anggota dan tim Lunas, yang terbaru lebih dulu',
  explanation: 'Tindakan anggota tim Anda di dasbor, dan perubahan oleh tim Lunas pada toko Anda.',
  lunas: 'Tim Lunas',
  columns: {
    time: 'Waktu',
    person: 'Orang',
    action: 'Tindakan',
    object: 'Objek',
    outcome: 'Hasil',
    address: 'Alamat',
  },
  actions: ID_ACTIONS,
  outcomes: ID_OUTCOMES,
  objects: {
    payment: 'Pembayaran',
    payments: 'Pembayaran',
    link: 'Tautan pembayaran',
    key: 'Kunci',
    webhook: 'Webhook',
    delivery: 'Kiriman',
    deliveries: 'Kiriman',
    member: 'Anggota',
    team: 'Tim',
    settings: 'Pengaturan',
    bankAccount: 'Rekening bank',
    payout: 'Pencairan',
    payouts: 'Pencairan',
  },
  person: 'Orang',
  allPeople: 'Semua orang',
  action: 'Tindakan',
  allActions: 'Semua tindakan',
  from: 'Dari hari',
  to: 'Sampai hari',
  filters: SHARED_ID.filter,
  apply: 'Tampilkan',
  clear: 'Hapus filter',
  export: 'Unduh CSV',
  exportLimit: (count, id) => `Lebih dari ${count} baris. Unduhan berikutnya mulai dengan older=${id}`,
  nothing: 'Belum ada. Setiap perubahan di dasbor muncul di sini bersama orangnya.',
  noMatch: SHARED_ID.noMatch,
  searched: 'Yang dicari: 2.000 tindakan. "Lebih lama" mencari yang sebelumnya.',
  pager: { newer: 'Lebih baru', older: 'Lebih lama', name: 'Halaman' },
  errorTitle: SHARED_ID.wrongFilter,
  errors: {
    day: SHARED_ID.dayFormat,
    order: SHARED_ID.dayOrder,
    cursor: 'Halaman daftar ini tidak ada. Mulai lagi dari tindakan terbaru.',
    person: 'Orang ini tidak ada.',
    action: 'Tindakan ini tidak ada.',
  },
};

export const ACTIVITY_TEXTS: Readonly<Record<Language, ActivityTexts>> = { id, en };
