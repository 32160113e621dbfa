import { z } from 'zod';
import type { AuditDependencies } from './audit/audit';
import { ofInstallation } from './operations/of-installation';
import { Operation } from './operations/operation';
import { done } from './operations/rejections';
import { hasPayoutsAccount } from './provider-accounts/payouts-account';

interface VersionNeeds extends AuditDependencies {
  /** `setCurrentVersion` of Temporal's client. @param hasPayouts else no worker needs the role `payouts` */
  readonly setCurrent: (buildId: string, hasPayouts: boolean) => Promise<void>;
}

/** Lets new payments start on the workers of a version. */
export const useWorkerVersion = new Operation({
  name: 'worker.use_version',
  ...ofInstallation,
  path: z.object({ buildId: z.string() }),
  input: z.object({}),
  load: (_needs: VersionNeeds, _scope, { buildId }) => Promise.resolve(buildId),
  target: ({ subject }) => subject,
  perform: async ({ needs: { db, setCurrent }, subject }) =>
    done(await setCurrent(subject, await hasPayoutsAccount(db))),
});
