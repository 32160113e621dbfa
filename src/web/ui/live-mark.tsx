import type { ReactElement } from 'react';
import { formatTime, ZONE_NAMES, type Locale } from './format';

const TEXTS = {
  id: { hint: 'Lihat detiknya: gambar tidak bergerak.', separator: '.' },
  en: { hint: 'Look at the seconds: a screenshot stands still.', separator: ':' },
} as const;

interface LiveMarkProps {
  /** The server's, which `liveTime` writes. */
  readonly time: string;
  readonly locale: Locale;
  /** After so many milliseconds the script removes the mark; null: never. */
  readonly endsMs: string | null;
}

/** The time of a mark: `14:03:20`. */
export const liveTime = (nowMs: number, locale: Locale) => formatTime(new Date(nowMs), 'second', locale);

/** A strip that moves, and the time of the server, which the script advances. */
export function LiveMark({ time, locale: { language, zone }, endsMs }: LiveMarkProps): ReactElement {
  const { hint, separator } = TEXTS[language];
  return (
    <div className="live-mark" data-live-mark="" data-ends-ms={endsMs ?? undefined}>
      <span className="strip" aria-hidden="true" />
      <b>
        <time data-separator={separator}>{time}</time> {ZONE_NAMES[zone]}
      </b>
      <small>{hint}</small>
    </div>
  );
}
