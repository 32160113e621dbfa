import { formatSecondsLeft } from '../ui/format';

/** The time until the deadline, as the page contains it: for its script, and to read. */
export interface TimeLeft {
  readonly milliseconds: string;
  readonly countdown: string;
  /** `calm`, then `soon`, then `last`; `checkout.js` changes it at the same times. */
  readonly urgency: string;
}

const SOON_MS = 300_000;
const LAST_MS = 60_000;

export function timeLeftAt(nowMs: number, expiresAt: Date): TimeLeft {
  const milliseconds = expiresAt.getTime() - nowMs;
  return {
    milliseconds: String(milliseconds),
    countdown: formatSecondsLeft(Math.max(Math.floor(milliseconds / 1_000), 0)),
    urgency: milliseconds <= LAST_MS ? 'last' : milliseconds <= SOON_MS ? 'soon' : 'calm',
  };
}
