import type { CheckoutState } from './checkout-state';
import type { PageFailure } from './texts';

/** The meaning of a drawing, which has a colour of its own. */
export type IconTone = 'neutral' | 'good' | 'blue' | 'amber' | 'red';

export interface OutcomeIcon {
  /** In a disc of 24 units. */
  readonly path: string;
  readonly tone: IconTone;
}

const CLOCK = 'M5 12a7 7 0 1 0 14 0a7 7 0 1 0-14 0M12 8v4l2.5 1.5';
const QUESTION = 'M9.2 9.6a3 3 0 1 1 4.3 2.7c-1 .5-1.5 1-1.5 1.9m0 2.7v.1';
const RETURN = 'M9.5 7 6.5 10l3 3M6.5 10h7a3.5 3.5 0 0 1 0 7H10';
const WARNING = 'M12 7v6m0 3.5v.1';
const CROSS = 'm8.5 8.5 7 7m0-7-7 7';

/** The state of a payment, or why a page has no payment. */
export type OutcomeName = CheckoutState | PageFailure | 'unknown';

/** The page and the images draw the same. */
export const OUTCOME_ICONS: Readonly<Record<OutcomeName, OutcomeIcon>> = {
  preparing: { path: CLOCK, tone: 'neutral' },
  waiting: { path: CLOCK, tone: 'neutral' },
  checking: { path: CLOCK, tone: 'amber' },
  paid: { path: 'm7 12.5 3.5 3.5L17 9', tone: 'good' },
  refund_processing: { path: RETURN, tone: 'blue' },
  refund_failed: { path: WARNING, tone: 'amber' },
  refunded: { path: RETURN, tone: 'blue' },
  expired: { path: CLOCK, tone: 'neutral' },
  cancelled: { path: CROSS, tone: 'neutral' },
  failed: { path: CROSS, tone: 'red' },
  unknown: { path: QUESTION, tone: 'neutral' },
  busy: { path: CLOCK, tone: 'neutral' },
  unavailable: { path: WARNING, tone: 'amber' },
};
