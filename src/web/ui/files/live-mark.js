// The time of the server on a paid page, second by second. The strip moves without this file.
'use strict';

{
  /** When each mark was found, by the device; only differences of it count. */
  const found = new WeakMap();
  const twoDigits = (number) => String(number).padStart(2, '0');

  const advance = (mark) => {
    const clock = mark.querySelector('time');
    const parts = clock.textContent.match(/\d+/g).map(Number);
    const seconds = parts.reduce((sum, part) => sum * 60 + part);
    const { atMs, first } = found.get(mark) ?? { atMs: Date.now(), first: seconds };
    found.set(mark, { atMs, first });
    const goneMs = Date.now() - atMs;
    if (goneMs > Number(mark.dataset.endsMs ?? Infinity)) return mark.remove();
    const now = (first + Math.floor(goneMs / 1_000)) % 86_400;
    const shown = [now / 3_600, (now / 60) % 60, now % 60].map((part) => twoDigits(Math.floor(part)));
    const next = shown.join(clock.dataset.separator);
    if (clock.textContent !== next) clock.textContent = next;
  };

  setInterval(() => document.querySelectorAll('[data-live-mark]').forEach(advance), 200);
}
