import { formatRupiah } from '../../../domain/money';
import { nextPayoutRun, type PayoutSettings } from '../../../domain/payout-schedule';
import { formatTime, WIB, type Locale } from '../../ui/format';
import { SCHEDULE_TEXTS } from './schedule-texts';

/** The next automatic payout in words: `Monday, 30 Nov 2026, 07:00 WIB, if at least Rp 50.000`. */
export function nextRunText({ language }: Locale, settings: PayoutSettings, now: Date): string {
  const texts = SCHEDULE_TEXTS[language];
  const run = nextPayoutRun(settings, now);
  if (run === null) return texts.none;
  const day = formatTime(run, 'weekday', { language, zone: WIB });
  return texts.nextRun(day, formatRupiah(settings.minimumRupiah));
}
