import { z } from 'zod';
import type { TransitionContext } from '../../db/transitions/apply-transition';
import { requireOperator } from '../../domain/actor';
import type { PaymentWorkflowClient } from '../../temporal/payment-workflow-client';
import type { AuditDependencies } from '../audit/audit';
import { ofInstallation } from '../operations/of-installation';
import { Operation } from '../operations/operation';
import { done } from '../operations/rejections';
import { holdLostPayouts, type HeldPayouts } from './hold-lost-payouts';
import { recover, type Recovery, type RecoveryReport } from './recover';
import { recoverOne } from './recover-one';

interface RecoveryNeeds extends AuditDependencies {
  readonly context: TransitionContext;
  readonly workflows: PaymentWorkflowClient;
}

/** A recovery of everything, with the payouts whose merchants it has held. */
export type RecoveryOfAll = Recovery & HeldPayouts;

export const recoverAll = new Operation({
  name: 'recovery.run',
  ...ofInstallation,
  input: z.object({ startedSince: z.iso.datetime().optional(), fromStart: z.boolean() }),
  load: (_needs: RecoveryNeeds & { readonly onProgress: (progress: RecoveryReport) => void }) => Promise.resolve(null),
  target: ({ input }) => input.startedSince ?? 'all',
  async perform({ needs: { context, onProgress, ...needs }, by, input: { startedSince, fromStart } }) {
    const since = startedSince === undefined ? undefined : new Date(startedSince);
    const recovery = await recover(context, needs.workflows, { startedSince: since, fromStart, onProgress });
    const { held, failures } = await holdLostPayouts(needs, requireOperator(by), recovery.lostPayouts);
    return done<RecoveryOfAll>({ ...recovery, failures: [...recovery.failures, ...failures], held });
  },
  incomplete: incompleteRecovery,
});

/** Why a recovery has to be repeated; null: it is complete. */
export function incompleteRecovery({ failures: { length } }: RecoveryOfAll): string | null {
  return length === 0 ? null : `${length} items not recovered. Run the command again, or inspect them.`;
}

/** The recovery of one payment or payout. It does not end recovery mode, as that of everything does. */
export const recoverSubject = new Operation({
  name: 'recovery.run_one',
  ...ofInstallation,
  path: z.object({ idOrReference: z.string() }),
  input: z.object({}),
  load: (_needs: RecoveryNeeds, _scope, { idOrReference }) => Promise.resolve(idOrReference),
  target: ({ subject }) => subject,
  async perform({ needs, by, subject }) {
    const holdLost = async (payoutId: string) => {
      const { failures } = await holdLostPayouts(needs, requireOperator(by), [payoutId]);
      if (failures[0]) throw new Error(failures[0].reason);
    };
    return done(await recoverOne({ ...needs, holdLost }, subject));
  },
});
