import type { BalanceTransactionKind } from '../../../domain/balance';
import type { Language } from '../../../domain/sign-in';
import { SHARED_EN, SHARED_ID } from '../texts/shared-texts';

/** What a payout pays, by the kind of its lines. */
const EN_KINDS = {
  settlement: (count: number) => (count === 1 ? '1 settlement' : `${count} settlements`),
  refund_fee: (count: number) => (count === 1 ? '1 fee of a refund' : `${count} fees of refunds`),
  payout: (count: number) => (count === 1 ? '1 earlier payout' : `${count} earlier payouts`),
  payout_cancelled: (count: number) => (count === 1 ? '1 cancelled payout' : `${count} cancelled payouts`),
  payout_failed: (count: number) => (count === 1 ? '1 failed payout' : `${count} failed payouts`),
  payout_returned: (count: number) => (count === 1 ? '1 returned payout' : `${count} returned payouts`),
  payout_conflict: (count: number) =>
    count === 1
      ? '1 payout that was paid out after it had failed'
      : `${count} payouts that were paid out after a failure`,
  fee_credit: (count: number) => (count === 1 ? '1 fee that was given back' : `${count} fees that were given back`),
} satisfies Record<BalanceTransactionKind, (count: number) => string>;

const ID_KINDS = {
  settlement: (count: number) => `${count} pembayaran yang masuk saldo`,
  refund_fee: (count: number) => `${count} biaya pengembalian dana`,
  payout: (count: number) => `${count} pencairan sebelumnya`,
  payout_cancelled: (count: number) => `${count} pencairan yang dibatalkan`,
  payout_failed: (count: number) => `${count} pencairan yang gagal`,
  payout_returned: (count: number) => `${count} pencairan yang dikembalikan`,
  payout_conflict: (count: number) => `${count} pencairan yang terlaksana setelah gagal`,
  fee_credit: (count: number) => `${count} biaya yang dikembalikan`,
} satisfies Record<BalanceTransactionKind, (count: number) => string>;

const EN_SHOW_BALANCE = 'Show the balance';

const en = {
  new: {
    title: 'Pay out the balance',
    button: (amount: string) => `Pay out ${amount}`,
    account: 'Bank account',
    balance: 'Available balance',
    gross: 'Paid with this payout',
    fee: (rail: string) => `Fee (${rail})`,
    amount: 'You receive',
    sent: 'Sent',
    now: 'As soon as it is approved',
    pays: 'What it pays',
    kinds: EN_KINDS,
    lines: EN_SHOW_BALANCE,
    onAccount: 'A part of the balance, before its payments are assigned: a later payout lists them.',
    rest: 'A payout has a largest amount and number of payments. The next payout pays the rest.',
    approval: 'If another member may approve payouts, one of them has to approve this one first.',
    back: 'Back',
    next: {
      newBankAccount: 'Add a bank account',
      bankAccount: 'Show the bank account',
      balance: EN_SHOW_BALANCE,
      payouts: 'Show payouts',
    },
  },
  approve: {
    title: 'Approve this payout?',
    text: 'Compare the name at the bank with that of your business. The bank cannot take a payout back.',
    button: (amount: string) => `Approve ${amount}`,
  },
  cancel: {
    title: 'Cancel this payout?',
    text: 'It is not sent, and the money is available again.',
    button: () => 'Cancel payout',
  },
  facts: {
    holder: SHARED_EN.nameAtBank,
    activeSince: 'Account in use since',
    requestedAt: 'Requested',
    balanceAfter: 'Available balance afterwards',
  },
  stale: 'The payout has changed since this page was opened. This is its state now.',
  unknown: 'The outcome is not known yet. The page of the payout shows its status. It is safe to repeat.',
  unknownRequest: 'The outcome is not known yet. It is safe to press the button again: it requests one payout.',
};

export type PayoutFormTexts = typeof en;

const id: PayoutFormTexts = {
  new: {
    title: 'Cairkan saldo',
    button: (amount) => `Cairkan ${amount}`,
    account: 'Rekening bank',
    balance: 'Saldo tersedia',
    gross: 'Dicairkan kali ini',
    fee: (rail) => `Biaya (${rail})`,
    amount: 'Anda terima',
    sent: 'Dikirim',
    now: 'Segera setelah disetujui',
    pays: 'Yang dicairkan',
    kinds: ID_KINDS,
    lines: 'Lihat saldo',
    onAccount: 'Sebagian saldo, sebelum pembayarannya ditentukan: pencairan berikutnya merincinya.',
    rest: 'Setiap pencairan dibatasi jumlah dan banyaknya pembayaran. Sisanya pada pencairan berikutnya.',
    approval: 'Jika ada anggota lain yang boleh menyetujui pencairan, salah satunya harus menyetujuinya dulu.',
    back: 'Kembali',
    next: {
      newBankAccount: 'Tambahkan rekening bank',
      bankAccount: 'Lihat rekening bank',
      balance: 'Lihat saldo',
      payouts: 'Lihat pencairan',
    },
  },
  approve: {
    title: 'Setujui pencairan ini?',
    text: 'Cocokkan nama di bank dengan nama usaha Anda. Bank tidak dapat menarik pencairan kembali.',
    button: (amount) => `Setujui ${amount}`,
  },
  cancel: {
    title: 'Batalkan pencairan ini?',
    text: 'Pencairan tidak dikirim, dan uangnya tersedia lagi di saldo.',
    button: () => 'Batalkan pencairan',
  },
  facts: {
    holder: SHARED_ID.nameAtBank,
    activeSince: 'Rekening dipakai sejak',
    requestedAt: 'Diajukan',
    balanceAfter: 'Saldo tersedia setelahnya',
  },
  stale: 'Pencairan berubah sejak halaman ini dibuka. Inilah keadaannya sekarang.',
  unknown: 'Hasilnya belum diketahui. Halaman pencairan menampilkan statusnya. Aman untuk diulang.',
  unknownRequest: 'Hasilnya belum diketahui. Aman untuk menekan tombolnya lagi: hanya satu pencairan yang diajukan.',
};

/** The texts of the forms that request, approve and cancel a payout. */
export const PAYOUT_FORM_TEXTS: Readonly<Record<Language, PayoutFormTexts>> = { id, en };
