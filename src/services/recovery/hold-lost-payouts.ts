import { openExceptionOnce } from '../../db/operations/open-exception';
import { findPayoutStatuses } from '../../db/payouts/list-open-payouts';
import type { OperatorActor } from '../../domain/actor';
import { formatRupiah } from '../../domain/money';
import type { PayoutTerms } from '../../domain/payout';
import { messageOf } from '../../errors';
import type { PayoutClient } from '../../temporal/payout-client';
import type { AuditDependencies } from '../audit/audit';
import { holdMerchant } from '../merchants/hold-merchant';
import type { RecoveryFailure } from './recover';

/** A lost payout that was not written again. Its merchant is on hold. */
export type HeldPayout = Pick<PayoutTerms, 'payoutId' | 'referenceId' | 'merchantId' | 'grossRupiah'>;

export interface HeldPayouts {
  readonly held: readonly HeldPayout[];
  readonly failures: readonly RecoveryFailure[];
}

interface HoldDependencies extends AuditDependencies {
  readonly workflows: { readonly payouts: PayoutClient };
}

/**
 * The balance has the money of these payouts again, and the next payout would pay it a second time. So nothing of their
 * merchants is paid until an operator has looked at them.
 */
export async function holdLostPayouts(
  dependencies: HoldDependencies,
  actor: OperatorActor,
  payoutIds: readonly string[],
): Promise<HeldPayouts> {
  const written = await findPayoutStatuses(dependencies.db, payoutIds);
  const held: HeldPayout[] = [];
  const failures: RecoveryFailure[] = [];
  for (const payoutId of payoutIds.filter((id) => !written.has(id))) {
    try {
      held.push(await holdLostPayout(dependencies, actor, payoutId));
    } catch (error) {
      failures.push({ id: payoutId, reason: `its merchant is not on hold: ${messageOf(error)}` });
    }
  }
  return { held, failures };
}

async function holdLostPayout(
  { workflows, ...dependencies }: HoldDependencies,
  actor: OperatorActor,
  payoutId: string,
): Promise<HeldPayout> {
  const { request } = await workflows.payouts.records.readRequest(payoutId);
  const { referenceId, merchantId, grossRupiah } = request;
  await openExceptionOnce(dependencies.db, {
    kind: 'lost_payout',
    referenceId,
    amountRupiah: grossRupiah,
    detail:
      `PostgreSQL has lost a payout, and recovery could not write it again. The balance of merchant ${merchantId} ` +
      `has its ${formatRupiah(grossRupiah)} again, and the bank may have executed it.`,
  });
  const note = `recovery could not write payout ${referenceId} again`;
  await holdMerchant.run(dependencies, actor, { path: { merchant: merchantId }, input: {}, formId: payoutId, note });
  return { payoutId, referenceId, merchantId, grossRupiah };
}
