import type { BankAccountStatus } from '../../../domain/bank-account-transitions';
import type { Language } from '../../../domain/sign-in';
import type { ActionTexts } from '../activity/recorded-action';
import { SHARED_EN, SHARED_ID } from '../texts/shared-texts';

const EN_STATUSES = {
  pending_inquiry: 'Asking the bank',
  pending_approval: 'Waiting for Lunas',
  active: 'In use',
  suspended: 'Suspended',
  rejected: 'Rejected',
  withdrawn: 'Withdrawn',
  replaced: 'Replaced',
  disabled: 'Disabled',
} satisfies Record<BankAccountStatus, string>;

const ID_STATUSES = {
  pending_inquiry: 'Menanyakan bank',
  pending_approval: 'Menunggu tim Lunas',
  active: 'Dipakai',
  suspended: 'Ditangguhkan',
  rejected: 'Ditolak',
  withdrawn: 'Ditarik',
  replaced: 'Diganti',
  disabled: 'Dinonaktifkan',
} satisfies Record<BankAccountStatus, string>;

const EN_WITHDRAW = 'Withdraw the proposal';

const EN_CONFIRMATIONS = {
  no_proposal: 'The account waits for no confirmation. The page of the bank account shows its state.',
  superseded: 'The account has changed since this page was opened. Open it again, and compare the name at the bank.',
  own_proposal: 'You added this account. Another owner or finance member has to confirm it.',
};

const ID_CONFIRMATIONS = {
  no_proposal: 'Rekening ini tidak menunggu konfirmasi. Halaman rekening bank menampilkan statusnya.',
  superseded: 'Rekening ini berubah sejak halaman ini dibuka. Buka lagi, lalu bandingkan nama di bank.',
  own_proposal: 'Anda yang menambahkan rekening ini. Pemilik atau anggota keuangan lain harus mengonfirmasinya.',
} satisfies typeof EN_CONFIRMATIONS;

/** The actions of bank accounts, as the activity names them. */
export const BANK_ACCOUNT_ACTION_TEXTS = {
  en: {
    'bank_account.add': 'Added a bank account',
    'bank_account.confirm': 'Confirmed a bank account',
    'bank_account.withdraw': 'Withdrew a bank account',
    'bank_account.disable': 'Disabled a bank account',
  },
  id: {
    'bank_account.add': 'Menambahkan rekening bank',
    'bank_account.confirm': 'Mengonfirmasi rekening bank',
    'bank_account.withdraw': 'Menarik pengajuan rekening bank',
    'bank_account.disable': 'Menonaktifkan rekening bank',
  },
} satisfies ActionTexts;

const en = {
  title: 'Bank account',
  explanation: 'Payouts go to your bank account. Lunas approves each new account, and no page shows its number.',
  nothing: 'No bank account yet. The balance can be paid out once a bank account is approved.',
  add: 'Add a bank account',
  change: 'Change the bank account',
  inUse: 'Account in use',
  proposal: 'Proposed account',
  history: 'Earlier accounts',
  historyCaption: 'Bank accounts that are not used any more',
  statuses: EN_STATUSES,
  sentences: {
    pending_inquiry: 'Lunas asks the bank for the name of the account holder. This takes some seconds, at most a day.',
    pending_approval: 'The bank knows the account. Lunas compares the names and approves it.',
    suspended: 'Payouts wait until Lunas has checked the account.',
    active: 'Payouts go to this account.',
  },
  waitsForMember: 'The bank knows the account. Another owner or finance member confirms it, then Lunas approves it.',
  coolDown: 'Payouts can go to this account from',
  paused: 'Payouts wait until this account is usable.',
  pausedStatus: 'Paused',
  pausedByProposal:
    'Payouts wait for the proposed account. They go to this one again if the proposal is withdrawn or rejected.',
  steps: { inquiry: 'The bank names the holder', approval: 'Lunas approves it', usable: 'Payouts can go to it' },
  columns: {
    account: 'Account',
    holder: SHARED_EN.nameAtBank,
    status: 'Status',
    added: 'Added',
    by: 'Added by',
    confirmedBy: 'Confirmed by',
    ended: 'Ended',
    reason: 'Reason',
    usableFrom: 'Usable from',
  },
  lunas: 'Lunas',
  confirm: {
    title: 'Confirm the bank account',
    text: 'Payouts will go to this account. Confirm it only if you know that it is the account of your business.',
    button: 'Confirm the account',
    rejections: EN_CONFIRMATIONS,
  },
  withdraw: {
    title: EN_WITHDRAW,
    text: 'The account is not checked any more. An account in use stays as it is.',
    button: EN_WITHDRAW,
    rejection: 'The account does not wait any more. The page of the bank account shows its state.',
  },
  disable: {
    title: 'Disable the bank account',
    text: 'No payout goes to this account any more. This cannot be undone: add it again if you need it.',
    button: 'Disable the account',
    rejection: 'The account is not in use any more. The page of the bank account shows its state.',
  },
  form: {
    bank: 'Bank',
    choose: 'Choose a bank',
    number: 'Account number',
    numberHint: '5 to 20 digits. It is stored encrypted and not shown again.',
    repeat: 'Account number again',
    warning: 'Payouts wait until the new account is usable.',
    next: 'The bank is asked for the name of the holder. Then a second member, if you have one, and Lunas approve it.',
    submit: 'Add the account',
    cancel: 'Back',
    errorTitle: SHARED_EN.checkFields,
    errors: {
      bank: 'Choose a bank.',
      number: 'Enter 5 to 20 digits.',
      repeat: 'The two numbers are not the same.',
      form: 'Open the form again.',
    },
  },
  proposalOpen: 'Another account waits for the bank or for Lunas. Withdraw it first.',
  done: {
    added: 'The account was added.',
    confirmed: 'The account is confirmed. Lunas approves it next.',
    withdrawn: 'The proposal was withdrawn.',
    disabled: 'The account was disabled.',
  },
};

type BankAccountTexts = typeof en;

const id: BankAccountTexts = {
  title: 'Rekening bank',
  explanation:
    'Pencairan masuk ke rekening bank Anda. Tim Lunas menyetujui setiap rekening baru. Nomornya tidak ditampilkan.',
  nothing: 'Belum ada rekening bank. Saldo dapat dicairkan setelah rekening bank disetujui.',
  add: 'Tambah rekening bank',
  change: 'Ganti rekening bank',
  inUse: 'Rekening yang dipakai',
  proposal: 'Rekening yang diajukan',
  history: 'Rekening sebelumnya',
  historyCaption: 'Rekening bank yang tidak dipakai lagi',
  statuses: ID_STATUSES,
  sentences: {
    pending_inquiry:
      'Lunas menanyakan nama pemilik rekening kepada bank. Ini memakan waktu beberapa detik, paling lama satu hari.',
    pending_approval: 'Bank mengenali rekening ini. Tim Lunas membandingkan namanya dan menyetujuinya.',
    suspended: 'Pencairan menunggu sampai tim Lunas memeriksa rekening ini.',
    active: 'Pencairan dikirim ke rekening ini.',
  },
  waitsForMember:
    'Bank mengenali rekening ini. Pemilik atau anggota keuangan lain mengonfirmasinya, lalu tim Lunas menyetujuinya.',
  coolDown: 'Rekening ini dapat dipakai untuk pencairan mulai',
  paused: 'Pencairan menunggu sampai rekening ini dapat dipakai.',
  pausedStatus: 'Dijeda',
  pausedByProposal:
    'Pencairan menunggu rekening yang diajukan. Jika pengajuan itu ditarik atau ditolak, pencairan masuk ke sini lagi.',
  steps: { inquiry: 'Bank menyebut nama pemilik', approval: 'Lunas menyetujuinya', usable: 'Siap menerima pencairan' },
  columns: {
    account: 'Rekening',
    holder: SHARED_ID.nameAtBank,
    status: 'Status',
    added: 'Ditambahkan',
    by: 'Ditambahkan oleh',
    confirmedBy: 'Dikonfirmasi oleh',
    ended: 'Berakhir',
    reason: 'Alasan',
    usableFrom: 'Dapat dipakai mulai',
  },
  lunas: 'Tim Lunas',
  confirm: {
    title: 'Konfirmasi rekening bank',
    text: 'Pencairan akan dikirim ke rekening ini. Konfirmasi hanya jika Anda tahu bahwa ini rekening usaha Anda.',
    button: 'Konfirmasi rekening',
    rejections: ID_CONFIRMATIONS,
  },
  withdraw: {
    title: 'Tarik pengajuan',
    text: 'Rekening ini tidak diperiksa lagi. Rekening yang dipakai tidak berubah.',
    button: 'Tarik pengajuan',
    rejection: 'Rekening ini tidak menunggu lagi. Halaman rekening bank menampilkan statusnya.',
  },
  disable: {
    title: 'Nonaktifkan rekening bank',
    text: 'Tidak ada pencairan lagi ke rekening ini. Ini tidak dapat dibatalkan: tambahkan lagi jika Anda perlu.',
    button: 'Nonaktifkan rekening',
    rejection: 'Rekening ini tidak dipakai lagi. Halaman rekening bank menampilkan statusnya.',
  },
  form: {
    bank: 'Bank',
    choose: 'Pilih bank',
    number: 'Nomor rekening',
    numberHint: '5 sampai 20 angka. Nomor disimpan terenkripsi dan tidak ditampilkan lagi.',
    repeat: 'Ulangi nomor rekening',
    warning: 'Pencairan menunggu sampai rekening baru dapat dipakai.',
    next: 'Bank ditanya nama pemiliknya. Setelah itu anggota kedua, jika ada, dan tim Lunas menyetujui rekening ini.',
    submit: 'Tambah rekening',
    cancel: 'Kembali',
    errorTitle: SHARED_ID.checkFields,
    errors: {
      bank: 'Pilih bank.',
      number: 'Isi 5 sampai 20 angka.',
      repeat: 'Kedua nomor tidak sama.',
      form: 'Buka formulir lagi.',
    },
  },
  proposalOpen: 'Rekening lain masih menunggu bank atau tim Lunas. Tarik pengajuan itu dahulu.',
  done: {
    added: 'Rekening ditambahkan.',
    confirmed: 'Rekening dikonfirmasi. Selanjutnya tim Lunas menyetujuinya.',
    withdrawn: 'Pengajuan ditarik.',
    disabled: 'Rekening dinonaktifkan.',
  },
};

export const BANK_ACCOUNT_TEXTS: Readonly<Record<Language, BankAccountTexts>> = { id, en };

export const BANK_ACCOUNT_DONE_CODES = ['added', 'confirmed', 'withdrawn', 'disabled'] as const;
