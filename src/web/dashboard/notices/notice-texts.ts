import { WRONG_CODES_OF_NOTICE, type ChangedCredential, type NoticeKind } from '../../../domain/notice-kinds';
import type { Language } from '../../../domain/sign-in';
import { formatNames } from '../../ui/format';
import type { ActionTexts } from '../activity/recorded-action';

interface NoticeTexts {
  readonly title: string;
  readonly close: string;
  readonly closeAll: string;
  /** By the number of those that are not shown. */
  readonly more: (count: number) => string;
  /** How often it occurred, before the newest time. */
  readonly times: (count: number) => string;
  /** The text above the time until which a closed notice is shown. */
  readonly shownUntil: string;
  /** A key without a name, and what the checkout page does not have. */
  readonly unnamed: string;
  readonly none: string;
  /** By what `OpenNotice.targetName` names; or none. */
  readonly kinds: Readonly<Record<Exclude<NoticeKind, 'security.factor_changed'>, (name: string) => string>>;
  readonly factorChanged: (name: string, changed: string) => string;
  readonly credentials: Readonly<Record<ChangedCredential, string>>;
}

/** A trigger makes these notices: it does not know who made the change. */
const UNEXPECTED: Readonly<Record<Language, string>> = {
  en: 'If you do not know why, look at the activity and check the settings.',
  id: 'Jika Anda tidak tahu sebabnya, lihat aktivitas dan periksa pengaturan.',
};

/** The actions of notices, as the activity names them. */
export const NOTICE_ACTION_TEXTS = {
  en: {
    'notice.close': 'Closed a notice',
  },
  id: {
    'notice.close': 'Menutup pemberitahuan',
  },
} satisfies ActionTexts;

const en: NoticeTexts = {
  title: 'Security notices',
  close: 'Close',
  closeAll: 'Close all',
  more: (count) => (count === 1 ? '1 more notice' : `${count} more notices`),
  times: (count) => `${count} times, newest`,
  shownUntil: 'Closed, shown until',
  unnamed: 'No name',
  none: 'none',
  kinds: {
    'security.recovery_code_used': (name) => `${name} used a recovery code.`,
    'security.wrong_codes': (name) =>
      `${WRONG_CODES_OF_NOTICE} wrong codes were entered for ${name} within a day. If that was another person, ` +
      'they may know the password: change it.',
    'security.login_reset': (name) => `A link was created that resets the login of ${name}.`,
    'security.member_authorised': (name) => `${name} may approve payouts.`,
    'security.owner_changed': (name) => `The owners changed: ${name}.`,
    'security.member_changed': (name) => `${name} joined or left the team, or has another role.`,
    'security.key_created': (name) => `A new API key: ${name}.`,
    'security.key_changed': (name) => `The networks of an API key were changed, or it was revoked: ${name}.`,
    'security.webhook_changed': (name) =>
      `A webhook is new, enabled again, has another address or secret, or sends customer data: ${name}.`,
    'security.return_url_changed': (name) => `The checkout page leads customers to another address: ${name}.`,
    'security.contact_changed': (name) => `The checkout page shows another contact: ${name}.`,
    'security.origins_changed': (name) => `Other sites may show the checkout page in a frame: ${name}.`,
    'security.logo_changed': () => `The logo on the checkout page was changed or removed. ${UNEXPECTED.en}`,
    'security.accent_changed': () => `The colour of the checkout page was changed. ${UNEXPECTED.en}`,
    'bank_account.pending_inquiry': (name) => `A bank account was added: ${name}.`,
    'bank_account.pending_approval': (name) => `The bank knows the account ${name}. Lunas has to approve it.`,
    'bank_account.active': (name) => `Lunas approved the bank account ${name}.`,
    'bank_account.suspended': (name) => `The bank account ${name} is suspended.`,
    'bank_account.rejected': (name) => `The bank account ${name} was rejected.`,
    'bank_account.withdrawn': (name) => `The bank account ${name} was withdrawn.`,
    'bank_account.replaced': (name) => `The bank account ${name} was replaced by another one.`,
    'bank_account.disabled': (name) => `The bank account ${name} was disabled.`,
    'payout.failed': (name) => `The payout ${name} failed. Its money is in the balance again.`,
    'payout.returned': (name) => `The payout ${name} came back from the bank. Its amount is in the balance again.`,
    'payout.waiting_for_approval': (name) => `The payout ${name} waits for an approval.`,
    'payout.schedule_proposed': (name) => `${name} wants to change the automatic payouts: a second member approves it.`,
    'payout.schedule_changed': (name) => `${name} changed the automatic payouts.`,
    'payment.other_amount': (name) =>
      `The provider has another amount for the payment ${name}, and a customer may have paid it. We are clarifying it.`,
  },
  factorChanged: (name, changed) => `${name} changed ${changed}.`,
  credentials: {
    password: 'the password',
    authenticator_app: 'the authenticator app',
    passkey: 'a passkey',
    recovery_codes: 'the recovery codes',
  },
};

const id: NoticeTexts = {
  title: 'Pemberitahuan keamanan',
  close: 'Tutup',
  closeAll: 'Tutup semua',
  more: (count) => `${count} pemberitahuan lagi`,
  times: (count) => `${count} kali, terakhir`,
  shownUntil: 'Ditutup, tampil sampai',
  unnamed: 'Tanpa nama',
  none: 'tidak ada',
  kinds: {
    'security.recovery_code_used': (name) => `${name} memakai kode pemulihan.`,
    'security.wrong_codes': (name) =>
      `${WRONG_CODES_OF_NOTICE} kode salah dimasukkan untuk ${name} dalam sehari. Jika itu orang lain, ` +
      'mungkin ia tahu kata sandinya: ganti kata sandi itu.',
    'security.login_reset': (name) => `Tautan untuk mengatur ulang akses masuk ${name} dibuat.`,
    'security.member_authorised': (name) => `${name} boleh menyetujui pencairan.`,
    'security.owner_changed': (name) => `Pemilik toko berubah: ${name}.`,
    'security.member_changed': (name) => `${name} bergabung atau keluar dari tim, atau perannya diganti.`,
    'security.key_created': (name) => `Kunci API baru: ${name}.`,
    'security.key_changed': (name) => `Jaringan sebuah kunci API diganti, atau kuncinya dicabut: ${name}.`,
    'security.webhook_changed': (name) =>
      `Webhook baru, diaktifkan lagi, alamat atau rahasianya diganti, atau mengirim data pelanggan: ${name}.`,
    'security.return_url_changed': (name) => `Halaman pembayaran mengarahkan pelanggan ke alamat lain: ${name}.`,
    'security.contact_changed': (name) => `Halaman pembayaran menampilkan kontak lain: ${name}.`,
    'security.origins_changed': (name) => `Situs lain boleh menampilkan halaman pembayaran di dalam bingkai: ${name}.`,
    'security.logo_changed': () => `Logo di halaman pembayaran diganti atau dihapus. ${UNEXPECTED.id}`,
    'security.accent_changed': () => `Warna halaman pembayaran diganti. ${UNEXPECTED.id}`,
    'bank_account.pending_inquiry': (name) => `Rekening bank ditambahkan: ${name}.`,
    'bank_account.pending_approval': (name) => `Bank mengenali rekening ${name}. Tim Lunas harus menyetujuinya.`,
    'bank_account.active': (name) => `Tim Lunas menyetujui rekening bank ${name}.`,
    'bank_account.suspended': (name) => `Rekening bank ${name} ditangguhkan.`,
    'bank_account.rejected': (name) => `Rekening bank ${name} ditolak.`,
    'bank_account.withdrawn': (name) => `Pengajuan rekening bank ${name} ditarik.`,
    'bank_account.replaced': (name) => `Rekening bank ${name} diganti dengan rekening lain.`,
    'bank_account.disabled': (name) => `Rekening bank ${name} dinonaktifkan.`,
    'payout.failed': (name) => `Pencairan ${name} gagal. Uangnya kembali ke saldo.`,
    'payout.returned': (name) => `Pencairan ${name} dikembalikan oleh bank. Jumlahnya kembali ke saldo.`,
    'payout.waiting_for_approval': (name) => `Pencairan ${name} menunggu persetujuan.`,
    'payout.schedule_proposed': (name) =>
      `${name} ingin mengubah pencairan otomatis: anggota kedua harus menyetujuinya.`,
    'payout.schedule_changed': (name) => `${name} mengubah pencairan otomatis.`,
    'payment.other_amount': (name) =>
      `Jumlah pembayaran ${name} berbeda di penyedia, dan pelanggan mungkin sudah membayarnya. Kami sedang ` +
      'memeriksanya.',
  },
  factorChanged: (name, changed) => `${name} mengubah ${changed}.`,
  credentials: {
    password: 'kata sandi',
    authenticator_app: 'aplikasi autentikator',
    passkey: 'kunci sandi',
    recovery_codes: 'kode pemulihan',
  },
};

export const NOTICE_TEXTS: Readonly<Record<Language, NoticeTexts>> = { id, en };

interface DescribedNotice {
  readonly kind: NoticeKind;
  readonly targetName: string | null;
  readonly changed: readonly ChangedCredential[];
}

export function describeNotice({ kind, targetName, changed }: DescribedNotice, language: Language): string {
  const { kinds, factorChanged, credentials, unnamed, none } = NOTICE_TEXTS[language];
  const name = targetName ?? (kind.startsWith('security.key_') ? unnamed : none);
  if (kind !== 'security.factor_changed') return kinds[kind](name);
  const names = changed.map((credential) => credentials[credential]);
  return factorChanged(name, formatNames(names, language, 'conjunction'));
}
