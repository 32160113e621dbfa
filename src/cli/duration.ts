const SECONDS_IN: Readonly<Record<string, number>> = { d: 86_400, h: 3_600, m: 60, s: 1 };

/** The seconds of `3s`, `15m`, `2h` or `1d`; undefined for any other text. */
export function parseDuration(text: string): number | undefined {
  const [, count, unit = ''] = /^(\d{1,9})([dhms])$/.exec(text) ?? [];
  const size = SECONDS_IN[unit];
  return size && Number(count) * size;
}

/** In the largest unit that needs no fraction: `90m`, `1d`, `0s`. */
export function formatDuration(seconds: number): string {
  for (const [unit, size] of Object.entries(SECONDS_IN)) {
    if (seconds >= size && seconds % size === 0) return `${seconds / size}${unit}`;
  }
  return `${seconds}s`;
}

/** In whole units, the largest of which there is more than one: `35 s`, `90 min`, `3 h`, `2 d`. */
export function formatAge(milliseconds: number): string {
  const seconds = Math.max(Math.floor(milliseconds / 1000), 0);
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7_200) return `${Math.floor(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.floor(seconds / 3_600)} h` : `${Math.floor(seconds / 86_400)} d`;
}
