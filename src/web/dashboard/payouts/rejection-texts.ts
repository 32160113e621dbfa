import { formatRupiah } from '../../../domain/money';
import type { PayoutRejection } from '../../../domain/payout-rejections';
import type { Language } from '../../../domain/sign-in';

/** What a text can name, as it is shown. */
interface RejectionValues {
  readonly balance: string;
  readonly minimum: string;
  readonly usableFrom: string;
}

/** A rejection has those that its text names. */
interface NamedValues {
  readonly code: string;
  readonly balanceRupiah?: number;
  readonly minimumRupiah?: number;
  readonly usableFrom?: Date;
}

type RejectionTexts = Readonly<Record<PayoutRejection['code'], string | ((values: RejectionValues) => string)>>;

const en: RejectionTexts = {
  merchant_not_approved: 'Lunas has to approve the shop first.',
  merchant_on_hold: 'The shop is on hold. Payouts wait until Lunas releases it.',
  payouts_stopped: 'Lunas has stopped all payouts for now. Nothing is lost: try again later.',
  recovery_mode: 'Lunas checks its records now. Nothing is lost: try again later.',
  no_payouts_account: 'Lunas cannot reach its bank now. Nothing is lost: try again later.',
  no_bank_account: 'There is no approved bank account. Add one first.',
  bank_account_suspended: 'The bank account is suspended. Lunas checks it.',
  proposal_open: 'A new bank account is proposed. Payouts wait until it is approved, rejected or withdrawn.',
  cooling_down: ({ usableFrom }) => `The bank account is new. Payouts can go to it from ${usableFrom}.`,
  nothing_to_pay: 'The balance is empty.',
  negative_balance: ({ balance }) => `The balance is ${balance}. The next settlements pay it off first.`,
  below_minimum: ({ balance, minimum }) => `The balance is ${balance}. A payout needs at least ${minimum}.`,
  balance_changed: 'The balance has changed. Look at it again, and request the payout then.',
  request_pending: 'Another payout of this balance is being requested. Look at the payouts in some minutes.',
};

const id: RejectionTexts = {
  merchant_not_approved: 'Toko harus disetujui tim Lunas dulu.',
  merchant_on_hold: 'Toko sedang ditahan. Pencairan menunggu sampai tim Lunas melepasnya.',
  payouts_stopped: 'Lunas menghentikan semua pencairan untuk sementara. Tidak ada yang hilang: coba lagi nanti.',
  recovery_mode: 'Lunas sedang memeriksa catatannya. Tidak ada yang hilang: coba lagi nanti.',
  no_payouts_account: 'Lunas tidak dapat menghubungi banknya sekarang. Tidak ada yang hilang: coba lagi nanti.',
  no_bank_account: 'Belum ada rekening bank yang disetujui. Tambahkan dulu.',
  bank_account_suspended: 'Rekening bank ditangguhkan. Lunas sedang memeriksanya.',
  proposal_open: 'Rekening bank baru sedang diajukan. Pencairan menunggu sampai rekening itu disetujui atau batal.',
  cooling_down: ({ usableFrom }) => `Rekening bank masih baru. Pencairan ke rekening itu bisa mulai ${usableFrom}.`,
  nothing_to_pay: 'Saldo kosong.',
  negative_balance: ({ balance }) => `Saldo ${balance}. Pemasukan berikutnya melunasinya dulu.`,
  below_minimum: ({ balance, minimum }) => `Saldo ${balance}. Pencairan paling sedikit ${minimum}.`,
  balance_changed: 'Saldo sudah berubah. Lihat lagi, lalu ajukan pencairan.',
  request_pending: 'Pencairan lain dari saldo ini sedang diajukan. Lihat daftar pencairan beberapa menit lagi.',
};

const REJECTIONS: Readonly<Record<Language, RejectionTexts>> = { id, en };

/**
 * Why a payout is not possible, as the pages say it.
 * @param formatTime in the zone of the merchant
 */
export function describeRejection(
  rejection: PayoutRejection,
  language: Language,
  formatTime: (at: Date) => string,
): string {
  const text = REJECTIONS[language][rejection.code];
  if (typeof text === 'string') return text;
  const named: NamedValues = rejection;
  const { balanceRupiah = 0, minimumRupiah = 0, usableFrom = new Date(0) } = named;
  const balance = balanceRupiah < 0 ? `−${formatRupiah(-balanceRupiah)}` : formatRupiah(balanceRupiah);
  return text({ balance, minimum: formatRupiah(minimumRupiah), usableFrom: formatTime(usableFrom) });
}
