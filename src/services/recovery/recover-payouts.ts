import { validate as isUuid } from 'uuid';
import type { Queryable } from '../../db/connection/pool';
import type { Page } from '../../db/operations/list-for-reconciliation';
import { findPayoutStatuses, isLostForGood, type LocatedPayout } from '../../db/payouts/list-open-payouts';
import { readPayoutState } from '../../db/transitions/payout-transitions';
import type { PayoutRequestInput } from '../../domain/payout-step';
import { isResting } from '../../domain/payout-transitions';
import type { PayoutClient } from '../../temporal/payout-client';
import type { ListedPayoutWorkflow, RecordedPayoutRequest } from '../../temporal/payout-records';

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
 * A lost payout is written again as submitted, whatever it was: its new workflow looks at the bank. One that an
 * operator has decided stays lost.
 * @throws Error if PostgreSQL does not have it afterwards
 */
export async function recoverPayoutRow(
  db: Queryable,
  payouts: PayoutClient,
  { payoutId, recorded }: DifferingPayout,
): Promise<'running' | 'rebuilt' | 'notified'> {
  if (!recorded) {
    const lost = await payouts.records.readRequest(payoutId);
    if (await isLostForGood(db, lost.request.referenceId)) return 'running';
    await payouts.rebuild(await withPartsInForce(db, lost));
    await readPayoutState(db, payoutId);
    return 'rebuilt';
  }
  await payouts.notify(recorded);
  return 'notified';
}

/**
 * The captured policy and payouts account; if one was lost, that in force. What was requested does not change.
 * @throws Error if the bank account is lost
 */
async function withPartsInForce(
  db: Queryable,
  { request, requestedAtMs }: RecordedPayoutRequest,
): Promise<RecordedPayoutRequest> {
  const { bankAccountId, merchantId, rail, payoutPolicyId, providerAccountId } = request;
  const { rows } = await db.query<Pick<PayoutRequestInput, 'payoutPolicyId' | 'providerAccountId'>>({
    name: 'find_parts_of_lost_payout',
    text: `select policy.id as "payoutPolicyId", source.id as "providerAccountId"
      from bank_accounts account
        cross join lateral (
          select id from payout_policies where rail = $3 order by id = $4 desc, version desc limit 1) policy
        cross join lateral (
          select id from provider_accounts where purpose = 'payouts' and (id = $5 or status = 'enabled')
          order by id = $5 desc limit 1) source
      where account.id = $1 and account.merchant_id = $2`,
    values: [bankAccountId, merchantId, rail, payoutPolicyId, providerAccountId],
  });
  if (!rows[0]) throw new Error('PostgreSQL has lost its bank account too, or has no payouts account or policy');
  return { request: { ...request, ...rows[0] }, requestedAtMs };
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
