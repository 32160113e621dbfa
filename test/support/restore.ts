import type { backUp } from './database';
import { eventually } from './eventually';
import type { TestService } from './service';

/** Stops the worker, and restores PostgreSQL to the time of a backup. Temporal and the provider stay as they are. */
export async function restore(service: TestService, backup: Awaited<ReturnType<typeof backUp>>): Promise<void> {
  await service.stopWorker();
  await backup.restore();
  // The next statement on an older connection fails.
  await eventually(
    () =>
      service.call('GET', '/readyz').then(
        ({ status }) => status,
        () => 0,
      ),
    (status) => status === 200,
  );
  await eventually(
    () => service.db.query('select 1').catch(() => undefined),
    (result) => result !== undefined,
  );
}
