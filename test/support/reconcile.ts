import { createSealer } from '../../src/crypto/sealing';
import { createProviderRegistry } from '../../src/providers/registry';
import { reconcileAll, type Reconciliation } from '../../src/services/reconciliation/reconcile-all';
import { SILENT } from './collect-log';
import type { TestService } from './service';

interface Run {
  readonly changedSince?: Date;
  readonly isRecovering?: boolean;
}

/** A run of `lunas reconcile`, in this process. */
export async function reconcile(
  service: TestService,
  { changedSince, isRecovering = false }: Run = {},
): Promise<Reconciliation> {
  const { db, workflows, masterKey, apiUrl } = service;
  const providers = createProviderRegistry({ db, sealer: createSealer(masterKey), publicBaseUrl: apiUrl, log: SILENT });
  try {
    const since = changedSince ?? new Date(Date.now() - 2 * 3_600_000);
    return await reconcileAll({ db, providers, workflows, isRecovering }, since);
  } finally {
    await providers.close();
  }
}
