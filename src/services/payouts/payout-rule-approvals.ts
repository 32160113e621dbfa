import { z } from 'zod';
import type { OperatorActor } from '../../domain/actor';
import { withAudit, type AuditDependencies } from '../audit/audit';
import { replacePayoutLimits, SET_PAYOUT_LIMITS } from './payout-limits';
import { SET_PAYOUT_POLICY, writePayoutPolicy } from './payout-policies';
import { payoutLimitsSchema, payoutPolicySchema } from './payout-rules';
import { endPayoutStop, START_PAYOUTS } from './payout-stops';

/** What holds for the payouts of all merchants. */
export const payoutRule = z.discriminatedUnion('action', [
  z.object({ action: z.literal('payout.start'), parameters: z.object({}) }),
  z.object({ action: z.literal('payout.set_limits'), parameters: payoutLimitsSchema }),
  z.object({ action: z.literal('payout.set_policy'), parameters: payoutPolicySchema }),
]);
export type PayoutRuleRequest = z.output<typeof payoutRule>;
export const PAYOUT_RULES = ['payout.start', 'payout.set_limits', 'payout.set_policy'] as const;

/** What two operators have agreed on. */
interface ApprovedRule {
  readonly target: string;
  readonly note: string;
  /** The id of the row that the rule replaces. */
  readonly expectedVersion: number | null;
}

/** Executes an approved request, in the transaction of the approval. */
export function changePayoutRule(
  dependencies: AuditDependencies,
  actor: OperatorActor,
  { target, note, expectedVersion }: ApprovedRule,
  { action, parameters }: PayoutRuleRequest,
): Promise<unknown> {
  const audited = { target, note };
  const { db } = dependencies;
  switch (action) {
    case 'payout.start':
      return withAudit(dependencies, actor, { ...audited, action: START_PAYOUTS }, () =>
        endPayoutStop(db, actor, { note, expectedId: expectedVersion ?? -1 }),
      );
    case 'payout.set_limits':
      return withAudit(dependencies, actor, { ...audited, action: SET_PAYOUT_LIMITS }, () =>
        replacePayoutLimits(db, parameters, expectedVersion ?? -1),
      );
    case 'payout.set_policy':
      return withAudit(dependencies, actor, { ...audited, action: SET_PAYOUT_POLICY }, () =>
        writePayoutPolicy(db, parameters),
      );
  }
}
