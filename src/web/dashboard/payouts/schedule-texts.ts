import { formatRupiah } from '../../../domain/money';
import { nextPayoutRun, type PayoutSchedule, type PayoutSettings, type Weekday } from '../../../domain/payout-schedule';
import type { Language } from '../../../domain/sign-in';
import { formatTime, WIB, type Locale } from '../../ui/format';
import { SHARED_EN, SHARED_ID } from '../texts/shared-texts';

const EN_WEEKDAYS = {
  1: 'Monday',
  2: 'Tuesday',
  3: 'Wednesday',
  4: 'Thursday',
  5: 'Friday',
  6: 'Saturday',
  7: 'Sunday',
} satisfies Record<Weekday, string>;

const ID_WEEKDAYS = {
  1: 'Senin',
  2: 'Selasa',
  3: 'Rabu',
  4: 'Kamis',
  5: 'Jumat',
  6: 'Sabtu',
  7: 'Minggu',
} satisfies Record<Weekday, string>;

const EN_SCHEDULES = {
  manual: 'None: members request payouts',
  daily: 'Every day at 07:00 WIB',
  weekly: 'Once a week at 07:00 WIB',
} satisfies Record<PayoutSchedule, string>;

const ID_SCHEDULES = {
  manual: 'Tidak ada: anggota mengajukan pencairan',
  daily: 'Setiap hari pukul 07.00 WIB',
  weekly: 'Seminggu sekali pukul 07.00 WIB',
} satisfies Record<PayoutSchedule, string>;

const EN_REJECTIONS = {
  own_proposal: 'You proposed this. Another owner or finance member has to approve it.',
  none_counts:
    'A second member has to approve it, and none can now: a login is less than a day old, or one person has seen the ' +
    'invitations or sign-in links of both. Ask Lunas to confirm the members by a call.',
};

const ID_REJECTIONS = {
  own_proposal: 'Anda yang mengajukan ini. Pemilik atau anggota keuangan lain harus menyetujuinya.',
  none_counts:
    'Anggota kedua harus menyetujuinya, dan belum ada yang bisa: akses masuknya belum berumur satu hari, atau ' +
    'undangan atau tautan masuk keduanya pernah dilihat orang yang sama. Minta tim Lunas memastikan para anggota ' +
    'lewat telepon.',
};

const en = {
  title: 'Automatic payouts',
  explanation:
    'Lunas pays out the whole available balance at this time. No member has to approve an automatic payout. So a ' +
    'second member, if you have one, approves the schedule. Ending automatic payouts needs no approval.',
  schedule: 'How often',
  schedules: EN_SCHEDULES,
  weekday: 'Day of the week',
  weekdays: EN_WEEKDAYS,
  minimum: 'Least balance',
  minimumHint: 'Below it, the balance waits for the next time.',
  save: 'Save',
  saved: 'The schedule is saved.',
  change: 'Change',
  next: 'Next automatic payout',
  none: 'None',
  nextRun: (day: string, minimum: string) => `${day}, 07:00 WIB, if at least ${minimum}`,
  errorTitle: SHARED_EN.checkFields,
  rejections: EN_REJECTIONS,
  proposal: {
    title: 'A change waits for a second member',
    text: 'Once it is approved, Lunas pays out the balance at this time without another approval.',
    by: 'Proposed by',
    at: 'Proposed',
    see: 'See the change',
    approve: 'Approve the schedule',
    withdraw: 'Withdraw the change',
  },
  errors: {
    schedule: 'Choose how often.',
    weekday: 'Choose a day of the week.',
    amount: 'Write an amount of at least Rp 1, in digits.',
    form: SHARED_EN.sentTwice,
  },
};

type ScheduleTexts = typeof en;

const id: ScheduleTexts = {
  title: 'Pencairan otomatis',
  explanation:
    'Lunas mencairkan seluruh saldo tersedia pada waktu ini. Pencairan otomatis tidak memerlukan persetujuan. ' +
    'Karena itu anggota kedua, jika ada, menyetujui jadwalnya. Mengakhirinya tidak memerlukan persetujuan.',
  schedule: 'Seberapa sering',
  schedules: ID_SCHEDULES,
  weekday: 'Hari dalam seminggu',
  weekdays: ID_WEEKDAYS,
  minimum: 'Saldo paling sedikit',
  minimumHint: 'Di bawah jumlah ini, saldo menunggu waktu berikutnya.',
  save: 'Simpan',
  saved: 'Jadwal disimpan.',
  change: 'Ubah',
  next: 'Pencairan otomatis berikutnya',
  none: 'Tidak ada',
  nextRun: (day, minimum) => `${day}, pukul 07.00 WIB, jika saldo paling sedikit ${minimum}`,
  errorTitle: SHARED_ID.checkFields,
  rejections: ID_REJECTIONS,
  proposal: {
    title: 'Perubahan menunggu anggota kedua',
    text: 'Setelah disetujui, Lunas mencairkan saldo pada waktu ini tanpa persetujuan lain.',
    by: 'Diajukan oleh',
    at: 'Diajukan',
    see: 'Lihat perubahan',
    approve: 'Setujui jadwal',
    withdraw: 'Tarik perubahan',
  },
  errors: {
    schedule: 'Pilih seberapa sering.',
    weekday: 'Pilih harinya.',
    amount: 'Tulis jumlah paling sedikit Rp 1, dengan angka.',
    form: SHARED_ID.sentTwice,
  },
};

/** The texts of automatic payouts. */
export const SCHEDULE_TEXTS: Readonly<Record<Language, ScheduleTexts>> = { id, en };

/** The next automatic payout in words: `Monday, 30 Nov 2026, 07:00 WIB, if at least Rp 50.000`. */
export function nextRunText({ language }: Locale, settings: PayoutSettings, now: Date): string {
  const texts = SCHEDULE_TEXTS[language];
  const run = nextPayoutRun(settings, now);
  if (run === null) return texts.none;
  const day = formatTime(run, 'weekday', { language, zone: WIB });
  return texts.nextRun(day, formatRupiah(settings.minimumRupiah));
}
