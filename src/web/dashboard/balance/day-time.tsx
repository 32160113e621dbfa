import type { ReactElement } from 'react';
import { formatTime, startOfDay, type Locale } from '../../ui/format';

interface DayTimeProps {
  /** `2026-11-25`, in the zone of the locale. */
  readonly day: string;
  readonly locale: Locale;
}

/** A day in words. */
export function DayTime({ day, locale }: DayTimeProps): ReactElement {
  return <time dateTime={day}>{formatTime(startOfDay(day, locale.zone), 'day', locale)}</time>;
}

/** Marks a day whose lines can still become more. */
export function Provisional({ label }: { readonly label: string }): ReactElement {
  return <span className="chip">{label}</span>;
}
