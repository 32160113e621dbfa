import { validate as isUuid } from 'uuid';
import type { Queryable } from '../../db/connection/pool';
import type { Page } from '../../db/queries/list-for-reconciliation';
import { findPayoutStatuses, type LocatedPayout } from '../../db/queries/list-open-payouts';
import { readPayoutState } from '../../db/transitions/payout-transitions';
import { isResting } from '../../domain/payout-transitions';
import type { PayoutClient } from '../../temporal/payout-client';
import type { ListedPayoutWorkflow } from '../../temporal/payout-records';

/** The workflow of a payout that PostgreSQL has lost, or that rests there. */
interface DifferingPayout {
  readonly payoutId: string;
  /** Undefined: PostgreSQL has lost it. */
  readonly recorded: LocatedPayout | undefined;
}

/** Workflows whose payout PostgreSQL has lost, and running workflows whose payout rests there; each payout once. */
export async function* listDifferingPayouts(
  db: Queryable,
  payouts: PayoutClient,
  since: Date,
): AsyncGenerator<DifferingPayout> {
  const until = new Date();
  const seen = new Set<string>();
  let after: string | null = null;
  do {
    const page: Page<ListedPayoutWorkflow> = await payouts.records.list(since, until, after);
    const listed = page.items.filter(({ payoutId }) => isUuid(payoutId));
    const statuses = await findPayoutStatuses(
      db,
      listed.map(({ payoutId }) => payoutId),
    );
    for (const { payoutId, isRunning } of listed) {
      const recorded = statuses.get(payoutId);
      if (seen.has(payoutId) || (recorded && !(isRunning && isResting(recorded.status)))) continue;
      seen.add(payoutId);
      yield { payoutId, recorded };
    }
    after = page.next;
  } while (after !== null);
}

/**
 * A lost payout is written again as submitted, whatever it was: its new workflow looks at the bank.
 * @throws Error if PostgreSQL does not have it afterwards
 */
export async function recoverPayoutRow(
  db: Queryable,
  payouts: PayoutClient,
  { payoutId, recorded }: DifferingPayout,
): Promise<'rebuilt' | 'notified'> {
  if (!recorded) {
    await payouts.rebuild(await payouts.records.readRequest(payoutId));
    await readPayoutState(db, payoutId);
    return 'rebuilt';
  }
  await payouts.notify(recorded);
  return 'notified';
}

/** The statuses of a workflow that has submitted its payout. */
const SUBMITTED: ReadonlySet<string | null> = new Set(['submitted', 'completed', 'failed', 'returned']);

/** A payout that its last workflow has submitted is not sent, also if PostgreSQL has lost the submission. */
export async function recoverPayout(
  payouts: PayoutClient,
  { payoutId, merchantId, status }: LocatedPayout,
): Promise<'running' | 'rebuilt' | 'notified'> {
  const workflow = await payouts.records.describe(payoutId);
  if (!workflow?.isRunning) {
    const wasSubmitted = SUBMITTED.has(workflow?.status ?? null);
    return payouts.resume({ payoutId, merchantId, ...(wasSubmitted && { wasSubmitted }) });
  }
  if (workflow.status === status) return 'running';
  await payouts.notify({ payoutId, merchantId });
  return 'notified';
}
