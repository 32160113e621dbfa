import type { BalanceTransactionKind } from '../../../domain/balance';
import type { Language } from '../../../domain/sign-in';

const EN_KINDS = {
  settlement: 'Settlement',
  refund_fee: 'Fee of a refund',
  payout: 'Payout',
  payout_cancelled: 'Payout cancelled',
  payout_failed: 'Payout failed',
  payout_returned: 'Payout returned',
  payout_conflict: 'Payout executed after a failure',
} satisfies Record<BalanceTransactionKind, string>;

const ID_KINDS = {
  settlement: 'Masuk saldo',
  refund_fee: 'Biaya pengembalian dana',
  payout: 'Pencairan',
  payout_cancelled: 'Pencairan dibatalkan',
  payout_failed: 'Pencairan gagal',
  payout_returned: 'Pencairan dikembalikan',
  payout_conflict: 'Pencairan terlaksana setelah gagal',
} satisfies Record<BalanceTransactionKind, string>;

const EN = {
  title: 'Balance',
  available: 'Available',
  availableHint: 'Settled money that is not paid out yet',
  pending: 'Pending',
  pendingHint: 'Paid by customers, not settled yet',
  inTransit: 'In transit',
  inTransitHint: 'Payouts that have not reached your bank yet',
  asOf: 'As of',
  newest: 'Newest changes',
  days: (month: string) => `Days of ${month}`,
  daysCaption: 'Opening, in, out and closing of each day, in WIB',
  linesCaption: 'Changes of the balance',
  earlierMonth: 'Month before',
  laterMonth: 'Month after',
  months: 'Months',
  nothing: 'No changes of the balance yet. A settled payment is the first one.',
  noDays: 'The balance did not change in this month.',
  noLines: 'No balance transactions on this day.',
  columns: {
    day: 'Day (WIB)',
    time: 'Time (WIB)',
    kind: 'Change',
    reference: 'Reference',
    amount: 'Amount',
    after: 'Balance after',
    opening: 'Opening',
    in: 'In',
    out: 'Out',
    closing: 'Closing',
  },
  provisional: 'Provisional',
  provisionalHint:
    'This day is not closed yet: its lines can still become more. It is closed at 00:30 WIB. Until then each line of ' +
    'the CSV is marked “provisional”, and it has the lines of some seconds ago.',
  statement: (day: string) => `Statement of ${day}`,
  lines: (count: number) => (count === 1 ? '1 line' : `${count} lines`),
  csv: 'Download CSV',
  exportLimit: (rows: number) => `Only the first ${rows} lines. Ask Lunas for the complete file.`,
  earlierDay: 'Day before',
  laterDay: 'Day after',
  neighbours: 'Days',
  moreLines: 'More lines',
  firstLines: 'First lines',
  pages: 'Pages of the statement',
  kinds: EN_KINDS,
};

export type BalanceTexts = typeof EN;

const ID: BalanceTexts = {
  title: 'Saldo',
  available: 'Saldo tersedia',
  availableHint: 'Dana yang sudah masuk saldo dan belum dicairkan',
  pending: 'Saldo tertunda',
  pendingHint: 'Sudah dibayar pelanggan, belum masuk saldo',
  inTransit: 'Dalam pencairan',
  inTransitHint: 'Pencairan yang belum sampai di bank Anda',
  asOf: 'Per',
  newest: 'Perubahan terbaru',
  days: (month) => `Hari-hari ${month}`,
  daysCaption: 'Saldo awal, masuk, keluar, dan saldo akhir setiap hari, dalam WIB',
  linesCaption: 'Perubahan saldo',
  earlierMonth: 'Bulan sebelumnya',
  laterMonth: 'Bulan berikutnya',
  months: 'Bulan',
  nothing: 'Belum ada perubahan saldo. Yang pertama adalah pembayaran yang masuk saldo.',
  noDays: 'Saldo tidak berubah pada bulan ini.',
  noLines: 'Tidak ada transaksi saldo pada hari ini.',
  columns: {
    day: 'Hari (WIB)',
    time: 'Waktu (WIB)',
    kind: 'Perubahan',
    reference: 'Referensi',
    amount: 'Jumlah',
    after: 'Saldo setelahnya',
    opening: 'Saldo awal',
    in: 'Masuk',
    out: 'Keluar',
    closing: 'Saldo akhir',
  },
  provisional: 'Sementara',
  provisionalHint:
    'Hari ini belum ditutup: barisnya masih dapat bertambah. Penutupan pada pukul 00.30 WIB. Sampai saat itu, setiap ' +
    'baris CSV bertanda “provisional” (sementara), dan isinya adalah baris hingga beberapa detik yang lalu.',
  statement: (day) => `Rekening koran ${day}`,
  lines: (count) => `${count} baris`,
  csv: 'Unduh CSV',
  exportLimit: (rows) => `Hanya ${rows} baris pertama. Minta berkas lengkapnya kepada Lunas.`,
  earlierDay: 'Hari sebelumnya',
  laterDay: 'Hari berikutnya',
  neighbours: 'Hari',
  moreLines: 'Baris berikutnya',
  firstLines: 'Baris pertama',
  pages: 'Halaman rekening koran',
  kinds: ID_KINDS,
};

export const BALANCE_TEXTS: Readonly<Record<Language, BalanceTexts>> = { id: ID, en: EN };
