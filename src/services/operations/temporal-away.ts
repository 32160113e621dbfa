import type { Readiness } from '../readiness';
import type { Reasons } from './rejections';

export interface TemporalState {
  /**
   * The dashboard gives it: without Temporal its page would wait for the time limit of a request, and could not say
   * that nothing was done. Absent: the caller waits.
   */
  readonly readiness?: Pick<Readiness, 'check'>;
}

/** Nothing was requested, so nothing has changed. */
export const temporalReason = { temporal_away: {} } as const satisfies Reasons;

/** The sentence of `temporalReason` for operators. */
export const temporalMessage = { temporal_away: () => 'Temporal is away' } as const;

/** The state is at most a second old. */
export async function isTemporalAway({ readiness }: TemporalState): Promise<boolean> {
  return readiness !== undefined && !(await readiness.check(true)).temporal;
}
