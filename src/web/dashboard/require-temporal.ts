import { UserError } from '../../errors';
import type { DashboardDependencies } from './dashboard-dependencies';

/** Nothing was requested, so nothing has changed. */
export class TemporalAwayError extends UserError {}

/**
 * An action needs Temporal. Without this, its page would wait for the time limit of a request, and could not say that
 * nothing was done. The state is at most a second old.
 * @throws TemporalAwayError within two seconds
 */
export async function requireTemporal({ readiness }: Pick<DashboardDependencies, 'readiness'>): Promise<void> {
  const { temporal } = await readiness.check(true);
  if (!temporal) throw new TemporalAwayError('Temporal is away');
}
