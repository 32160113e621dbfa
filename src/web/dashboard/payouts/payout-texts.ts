import type { PayoutFailureKind } from '../../../domain/bank-payout';
import { APPROVAL_PERIOD_DAYS, type ApprovalKind } from '../../../domain/payout';
import type { Rail } from '../../../domain/payout-rails';
import type { PayoutStatus, PayoutTransitionName } from '../../../domain/payout-transitions';
import type { Language } from '../../../domain/sign-in';
import type { ActionTexts } from '../activity/recorded-action';
import { SHARED_EN, SHARED_ID } from '../texts/shared-texts';

export const RAIL_NAMES = { bi_fast: 'BI-FAST', online: 'Online', skn: 'SKN', rtgs: 'RTGS' } as const satisfies Record<
  Rail,
  string
>;

const EN_STATUSES = {
  requested: 'Waiting',
  approved: 'Approved',
  submitted: 'At the bank',
  completed: 'Paid out',
  failed: 'Failed',
  cancelled: 'Cancelled',
  returned: 'Returned',
} satisfies Record<PayoutStatus, string>;

const ID_STATUSES = {
  requested: 'Menunggu',
  approved: 'Disetujui',
  submitted: 'Di bank',
  completed: 'Dicairkan',
  failed: 'Gagal',
  cancelled: 'Dibatalkan',
  returned: 'Dikembalikan',
} satisfies Record<PayoutStatus, string>;

const EN_STEPS = {
  request: 'Requested',
  approve: 'Approved',
  cancel_request: 'Cancelled',
  cancel: 'Cancelled',
  submit: 'Sent to the bank',
  resend: 'Sent to the bank once more by Lunas',
  complete: 'Paid out by the bank',
  fail: 'Not paid out by the bank',
  resolve_as_completed: 'Lunas has the proof that the bank paid it out',
  resolve_as_failed: 'Lunas has the proof that the bank did not pay it out',
  return: 'Returned by the bank',
  resolve_as_returned: 'Lunas has the proof that the bank returned it',
  complete_failed: 'Paid out by the bank after it had failed',
  resolve_failed_as_completed: 'Lunas has the proof that the bank paid it out after it had failed',
} satisfies Record<PayoutTransitionName, string>;

const ID_STEPS = {
  request: 'Diajukan',
  approve: 'Disetujui',
  cancel_request: 'Dibatalkan',
  cancel: 'Dibatalkan',
  submit: 'Dikirim ke bank',
  resend: 'Dikirim sekali lagi ke bank oleh tim Lunas',
  complete: 'Dicairkan oleh bank',
  fail: 'Tidak dicairkan oleh bank',
  resolve_as_completed: 'Tim Lunas memiliki bukti bahwa bank mencairkannya',
  resolve_as_failed: 'Tim Lunas memiliki bukti bahwa bank tidak mencairkannya',
  return: 'Dikembalikan oleh bank',
  resolve_as_returned: 'Tim Lunas memiliki bukti bahwa bank mengembalikannya',
  complete_failed: 'Dicairkan oleh bank setelah sempat gagal',
  resolve_failed_as_completed: 'Tim Lunas memiliki bukti bahwa bank mencairkannya setelah sempat gagal',
} satisfies Record<PayoutTransitionName, string>;

const EN_FAILURES = {
  account: 'The bank does not accept the bank account. Check it or change it.',
  source_balance: 'The account of Lunas at the bank was short. The next payout can succeed.',
  cut_off: 'The bank took no payouts at that time. The next payout can succeed.',
  limit: 'The amount was above a limit of the bank.',
  other: 'The message of the bank is among the details. The next payout can succeed.',
} satisfies Record<PayoutFailureKind, string>;

const ID_FAILURES = {
  account: 'Bank tidak menerima rekening bank ini. Periksa atau ganti rekening bank.',
  source_balance: 'Saldo rekening Lunas di bank kurang. Pencairan berikutnya dapat berhasil.',
  cut_off: 'Bank tidak menerima pencairan pada waktu itu. Pencairan berikutnya dapat berhasil.',
  limit: 'Jumlahnya melebihi batas bank.',
  other: 'Pesan bank ada pada rincian. Pencairan berikutnya dapat berhasil.',
} satisfies Record<PayoutFailureKind, string>;

const EN_WAIT_ENDS = `After ${APPROVAL_PERIOD_DAYS} days without an approval it is cancelled.`;
const EN_WAITS = {
  none: 'Lunas approves it in a moment.',
  second_user: `It waits until another member approves it. ${EN_WAIT_ENDS}`,
  operator: `It waits until Lunas approves it. ${EN_WAIT_ENDS}`,
} satisfies Record<ApprovalKind, string>;

const ID_WAIT_ENDS = `Setelah ${APPROVAL_PERIOD_DAYS} hari tanpa persetujuan, pencairan dibatalkan.`;
const ID_WAITS = {
  none: 'Lunas segera menyetujuinya.',
  second_user: `Menunggu persetujuan anggota lain. ${ID_WAIT_ENDS}`,
  operator: `Menunggu persetujuan tim Lunas. ${ID_WAIT_ENDS}`,
} satisfies Record<ApprovalKind, string>;

/** The actions of payouts, as the activity names them. */
export const PAYOUT_ACTION_TEXTS = {
  en: {
    'payouts.export': 'Exported payouts',
    'payout.export_lines': 'Exported the lines of a payout',
    'payout.request': 'Requested a payout',
    'payout.approve': 'Approved a payout',
    'payout.cancel': 'Cancelled a payout',
    'payout_settings.set': 'Changed automatic payouts',
    'payout_settings.approve': 'Approved automatic payouts',
    'payout_settings.withdraw': 'Withdrew a change of automatic payouts',
  },
  id: {
    'payouts.export': 'Mengekspor pencairan',
    'payout.export_lines': 'Mengekspor baris pencairan',
    'payout.request': 'Mengajukan pencairan',
    'payout.approve': 'Menyetujui pencairan',
    'payout.cancel': 'Membatalkan pencairan',
    'payout_settings.set': 'Mengubah pencairan otomatis',
    'payout_settings.approve': 'Menyetujui pencairan otomatis',
    'payout_settings.withdraw': 'Menarik perubahan pencairan otomatis',
  },
} satisfies ActionTexts;

const en = {
  title: 'Payouts',
  caption: 'Payouts, the newest first',
  explanation: 'A payout sends the whole available balance to your bank account.',
  new: 'Pay out',
  export: 'Download CSV',
  exportLimit: (rows: number, cursor: string) =>
    `Only the first ${rows} payouts. The next export begins with: older=${cursor}`,
  statuses: EN_STATUSES,
  columns: {
    time: 'Time',
    reference: 'Reference',
    amount: 'Amount',
    fee: 'Fee',
    account: 'Bank account',
    requestedBy: 'Requested by',
    approvedBy: 'Approved by',
    status: 'Status',
  },
  filters: {
    label: SHARED_EN.filter,
    status: 'Status',
    all: 'All',
    from: 'From day',
    to: 'To day',
    apply: 'Show',
    clear: 'Clear filters',
    errorTitle: SHARED_EN.wrongFilter,
    errors: {
      day: SHARED_EN.dayFormat,
      order: SHARED_EN.dayOrder,
      cursor: 'This page of the list does not exist. Start again from the newest payout.',
      status: SHARED_EN.noStatus,
    },
  },
  nothing: 'No payouts yet. What is sent to your bank account will stand here.',
  noMatch: SHARED_EN.noMatch,
  pager: { newest: 'Newest', older: 'Older', name: 'Pages' },
  receives: 'Payouts go to',
  noAccount: 'No approved bank account yet',
  schedule: 'Schedule',
  approved: (name: string) => `Approved by ${name}`,
  lunas: 'Lunas',
  notNeeded: 'Not needed',
  formerMember: 'Former member',
  detail: {
    facts: 'Details',
    timeline: 'Timeline',
    gross: 'From the balance',
    fee: (rail: string) => `Fee (${rail})`,
    amount: 'You receive',
    bankReference: 'Reference of the bank',
    reason: 'Message of the bank',
    lines: (count: number) => (count === 1 ? 'It pays 1 line of the balance' : `It pays ${count} lines of the balance`),
    noLines: 'Lunas has restored this payout: it is a line of the balance itself.',
    exportLines: 'Download CSV',
    moreLines: 'More lines',
    firstLines: 'First lines',
    pages: 'Pages of the lines',
    approve: 'Approve',
    cancel: 'Cancel payout',
    available: SHARED_EN.moneyAvailable,
    amountAvailable: 'The amount is available again, without the fee.',
    done: {
      requested: 'The payout was requested.',
      approved: 'The payout was approved.',
      cancelled: 'The payout was cancelled. The money is available again.',
    },
    waits: EN_WAITS,
    waitsForYou: `It waits for your approval. ${EN_WAIT_ENDS}`,
    waitsFor: (names: string) => `It waits until ${names} approves it. ${EN_WAIT_ENDS}`,
    otherMember: 'another member',
    sends: 'It is approved. Lunas sends it as soon as the bank takes payouts of this kind.',
    keptBack: 'It is approved and waits:',
    submitted: 'The bank has it. The page shows the result as soon as the bank reports it.',
    completed: 'The bank has paid it out.',
    failed: 'The bank did not pay it out.',
    cancelled: 'It was cancelled before it was sent.',
    returned: 'The bank had paid it out, and the money came back. Check or change the bank account.',
    failures: EN_FAILURES,
    steps: EN_STEPS,
    notApproved: `Not approved within ${APPROVAL_PERIOD_DAYS} days`,
    accountEnded: 'Its bank account has ended',
  },
};

export type PayoutTexts = typeof en;

const id: PayoutTexts = {
  title: 'Pencairan',
  caption: 'Pencairan, yang terbaru lebih dahulu',
  explanation: 'Pencairan mengirim seluruh saldo tersedia ke rekening bank Anda.',
  new: 'Cairkan saldo',
  export: 'Unduh CSV',
  exportLimit: (rows, cursor) => `Hanya ${rows} pencairan pertama. Unduhan berikutnya dimulai dengan: older=${cursor}`,
  statuses: ID_STATUSES,
  columns: {
    time: 'Waktu',
    reference: 'Referensi',
    amount: 'Jumlah',
    fee: 'Biaya',
    account: 'Rekening bank',
    requestedBy: 'Diajukan oleh',
    approvedBy: 'Disetujui oleh',
    status: 'Status',
  },
  filters: {
    label: SHARED_ID.filter,
    status: 'Status',
    all: 'Semua',
    from: 'Dari hari',
    to: 'Sampai hari',
    apply: 'Tampilkan',
    clear: 'Hapus filter',
    errorTitle: SHARED_ID.wrongFilter,
    errors: {
      day: SHARED_ID.dayFormat,
      order: SHARED_ID.dayOrder,
      cursor: 'Halaman daftar ini tidak ada. Mulai lagi dari pencairan terbaru.',
      status: SHARED_ID.noStatus,
    },
  },
  nothing: 'Belum ada pencairan. Uang yang dikirim ke rekening bank Anda akan tampil di sini.',
  noMatch: SHARED_ID.noMatch,
  pager: { newest: 'Terbaru', older: 'Lebih lama', name: 'Halaman' },
  receives: 'Pencairan masuk ke',
  noAccount: 'Belum ada rekening bank yang disetujui',
  schedule: 'Jadwal',
  approved: (name) => `Disetujui oleh ${name}`,
  lunas: 'Tim Lunas',
  notNeeded: 'Tidak perlu',
  formerMember: 'Mantan anggota',
  detail: {
    facts: 'Rincian',
    timeline: 'Riwayat',
    gross: 'Dari saldo',
    fee: (rail) => `Biaya (${rail})`,
    amount: 'Anda terima',
    bankReference: 'Referensi bank',
    reason: 'Pesan bank',
    lines: (count) => `Mencairkan ${count} baris saldo`,
    noLines: 'Lunas memulihkan pencairan ini: pencairan ini sendiri adalah baris saldo.',
    exportLines: 'Unduh CSV',
    moreLines: 'Baris berikutnya',
    firstLines: 'Baris pertama',
    pages: 'Halaman baris',
    approve: 'Setujui',
    cancel: 'Batalkan pencairan',
    available: SHARED_ID.moneyAvailable,
    amountAvailable: 'Jumlahnya tersedia lagi di saldo, tanpa biayanya.',
    done: {
      requested: 'Pencairan sudah diajukan.',
      approved: 'Pencairan sudah disetujui.',
      cancelled: 'Pencairan sudah dibatalkan. Uangnya tersedia lagi di saldo.',
    },
    waits: ID_WAITS,
    waitsForYou: `Menunggu persetujuan Anda. ${ID_WAIT_ENDS}`,
    waitsFor: (names) => `Menunggu persetujuan ${names}. ${ID_WAIT_ENDS}`,
    otherMember: 'anggota lain',
    sends: 'Sudah disetujui. Lunas mengirimnya segera setelah bank menerima pencairan jenis ini.',
    keptBack: 'Sudah disetujui dan masih menunggu:',
    submitted: 'Bank sedang memprosesnya. Hasilnya muncul di halaman ini setelah bank melaporkannya.',
    completed: 'Bank sudah mencairkannya.',
    failed: 'Bank tidak mencairkannya.',
    cancelled: 'Dibatalkan sebelum dikirim.',
    returned: 'Bank sudah mencairkannya, lalu uangnya kembali. Periksa atau ganti rekening bank.',
    failures: ID_FAILURES,
    steps: ID_STEPS,
    notApproved: `Tidak disetujui dalam ${APPROVAL_PERIOD_DAYS} hari`,
    accountEnded: 'Rekening banknya sudah tidak dipakai',
  },
};

/** The texts of the list and of a payout. */
export const PAYOUT_TEXTS: Readonly<Record<Language, PayoutTexts>> = { id, en };
