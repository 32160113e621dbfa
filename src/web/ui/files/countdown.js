// The time that is left, for the scripts of the dashboard and of the checkout. They stand behind this file.
'use strict';

/** `14:59`, and `23:54:29` of more than 99 minutes, as `formatSecondsLeft` of format.ts renders it. */
globalThis.formatSecondsLeft = (seconds) => {
  const minutes = Math.floor(seconds / 60);
  const two = (count) => String(count).padStart(2, '0');
  const rest = two(seconds % 60);
  return minutes < 100 ? `${minutes}:${rest}` : `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${rest}`;
};
