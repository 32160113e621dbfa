import type { PayoutFailureKind } from '../../domain/bank-payout';
import type { PayoutState, PayoutTerms } from '../../domain/payout';
import type { SendOutcome } from '../../domain/payout-decision';
import type { RailWindow } from '../../domain/payout-rails';
import type { PayoutObstacle } from '../../domain/payout-rejections';
import type { PayoutStatus } from '../../domain/payout-transitions';
import type { Queryable } from '../connection/pool';
import { bindStatement, prepareStatement } from '../connection/statement';
import { isOlderThanRecovery, OBSTACLE, obstacleJoins } from '../transitions/payout-conditions';

/** A payout as its workflow and the calls to the bank need it. */
export interface RecordedPayout extends RailWindow {
  readonly terms: PayoutTerms;
  readonly state: PayoutState;
  readonly requestedBy: string;
  /** The terms as they were requested. */
  readonly sealedTerms: string;
  /** The permissions for a call to the bank. */
  readonly sendCount: number;
  readonly sendOutcome: SendOutcome | null;
  readonly submittedAt: Date | null;
  /** An operator resolved it. */
  readonly isManual: boolean;
  readonly bankReference: string | null;
  /** Why the bank rejected the last call, or why the payout failed. */
  readonly failureKind: PayoutFailureKind | null;
  readonly failureReason: string | null;
  readonly bankCode: string;
  readonly accountLastFour: string;
  readonly numberHmac: string;
  /** Null: they are emptied some years after the last payout. */
  readonly sealedNumber: string | null;
  readonly sealedHolderName: string | null;
  /** Days without banks besides Saturdays and Sundays, `YYYY-MM-DD`. */
  readonly holidays: readonly string[];
  /** The rail's. An operator should look at a payout that takes longer. */
  readonly expectedWithinSeconds: number;
  /** The time after the last call in which a payout that the bank does not know may still arrive there. */
  readonly notFoundSeconds: number;
  /** PostgreSQL may have lost that it was sent. */
  readonly isOlderThanRecovery: boolean;
}

interface PayoutRow extends Omit<PayoutTerms, 'requestedAtMs'>, Omit<RecordedPayout, 'terms' | 'state'> {
  readonly requestedAt: Date;
  readonly status: PayoutStatus;
  readonly version: number;
  readonly lastSentAt: Date | null;
}

const WINDOW = 'policy.opens_at as "opensAt", policy.closes_at as "closesAt", policy.days';

/** Whether the window of `policy` is open at a time. `nextOpening` has the same rule. */
export function isWindowOpen(at: string): string {
  const wib = `((${at}) at time zone 'Asia/Jakarta')`;
  return `(${wib}::time >= policy.opens_at and ${wib}::time < policy.closes_at and (policy.days = 'every'
           or is_working_day(${wib}::date)))`;
}

const HOLIDAYS = "(select coalesce(json_agg(day), '[]') from bank_holidays where day >= now() - interval '2 days')";

/** Undefined if PostgreSQL does not have the payout. */
export async function findRecordedPayout(db: Queryable, payoutId: string): Promise<RecordedPayout | undefined> {
  const { rows } = await db.query<PayoutRow>({
    name: 'find_recorded_payout',
    text: `select payout.id as "payoutId", payout.reference_id as "referenceId", payout.merchant_id as "merchantId",
        payout.bank_account_id as "bankAccountId", payout.provider_account_id as "providerAccountId",
        payout.gross_rupiah as "grossRupiah", payout.fee_rupiah as "feeRupiah", payout.amount_rupiah as "amountRupiah",
        payout.approval_kind as "approvalKind", payout.requested_at as "requestedAt",
        payout.status, payout.version, payout.last_sent_at as "lastSentAt", payout.requested_by as "requestedBy",
        payout.sealed_terms as "sealedTerms", payout.send_count as "sendCount", payout.send_outcome as "sendOutcome",
        payout.submitted_at as "submittedAt", payout.is_manual as "isManual", payout.bank_reference as "bankReference",
        payout.failure_kind as "failureKind", payout.failure_reason as "failureReason",
        account.bank_code as "bankCode", account.last_four as "accountLastFour",
        account.number_hmac as "numberHmac", account.sealed_number as "sealedNumber",
        account.sealed_holder_name as "sealedHolderName",
        policy.expected_within_seconds as "expectedWithinSeconds",
        ${WINDOW}, ${HOLIDAYS} as holidays,
        (select not_found_seconds from payout_limits order by id desc limit 1) as "notFoundSeconds",
        ${isOlderThanRecovery('payout.id')} as "isOlderThanRecovery"
      from payouts payout
        join bank_accounts account on account.id = payout.bank_account_id
        join payout_policies policy on policy.id = payout.payout_policy_id
      where payout.id = $1`,
    values: [payoutId],
  });
  return rows[0] && recordedOf(rows[0]);
}

function recordedOf({ requestedAt, status, version, lastSentAt, ...row }: PayoutRow): RecordedPayout {
  const { referenceId, merchantId, bankAccountId, providerAccountId, approvalKind, ...others } = row;
  const { payoutId, grossRupiah, feeRupiah, amountRupiah, ...recorded } = others;
  const parties = { payoutId, referenceId, merchantId, bankAccountId, providerAccountId };
  const amounts = { grossRupiah, feeRupiah, amountRupiah };
  return {
    ...recorded,
    terms: { ...parties, ...amounts, approvalKind, requestedAtMs: requestedAt.getTime() },
    state: { status, version, ...(lastSentAt && { lastSentAtMs: lastSentAt.getTime() }) },
  };
}

const OBSTACLE_JOINS = obstacleJoins({
  account: 'account.id = payout.bank_account_id',
  source: 'source.id = payout.provider_account_id',
});

/** Payouts with what their obstacles depend on. */
export const FROM_PAYOUTS = `from payouts payout
  join merchants merchant on merchant.id = payout.merchant_id${OBSTACLE_JOINS}`;

export interface FoundObstacle {
  readonly obstacle: PayoutObstacle;
  /** The end of the cool-down; null for any other obstacle. */
  readonly until: Date | null;
}

const FIND_OBSTACLE = prepareStatement(
  'find_payout_obstacle',
  ['payoutId', 'at'],
  `select obstacle, case obstacle when 'cooling_down' then usable_from end as until
   from (
     select ${OBSTACLE} as obstacle, account.usable_from
     ${FROM_PAYOUTS}
     where payout.id = :payoutId
   ) payout
   where obstacle is not null`,
);

/** What keeps a payout back now; undefined: nothing does any more. */
export async function findPayoutObstacle(
  db: Queryable,
  payoutId: string,
  at: Date,
): Promise<FoundObstacle | undefined> {
  const { rows } = await db.query<FoundObstacle>(bindStatement(FIND_OBSTACLE, { payoutId, at }));
  return rows[0];
}

/** Since its last signal: a workflow whose step is retried gets no signal every 30 s. Temporal accepts 10,000. */
const IS_DUE = "(payout.signalled_at is null or payout.signalled_at <= :at::timestamptz - interval '10 minutes')";

const CLAIM_RELEASED = prepareStatement(
  'claim_released_payouts',
  ['at'],
  `
with approved as (
  select payout.id, payout.updated_at, payout.signalled_at, ${IS_DUE} as is_due,
    case when ${isWindowOpen(':at::timestamptz')} then nullif(${OBSTACLE}, 'no_bank_account') else 'rail_closed' end
      as obstacle
  ${FROM_PAYOUTS}
    join payout_policies policy on policy.id = payout.payout_policy_id
  where payout.status = 'approved'
),
deferred as (
  update payouts payout set signalled_at = null from approved
  where payout.id = approved.id and approved.obstacle is not null and approved.signalled_at is not null
),
released as (select id from approved where obstacle is null and is_due order by updated_at, id limit 1000)
update payouts payout set signalled_at = :at from released
where payout.id = released.id and payout.status = 'approved' and ${IS_DUE}
returning payout.id as "payoutId", payout.merchant_id as "merchantId"`,
);

type ReleasedPayout = Pick<PayoutTerms, 'payoutId' | 'merchantId'>;

/**
 * Approved payouts that nothing defers any more, or whose bank account has ended; at most 1,000, the oldest first. One
 * caller gets each of them, and again after ten minutes, or after it was deferred once more.
 */
export async function claimReleasedPayouts(db: Queryable, at: Date): Promise<ReleasedPayout[]> {
  const { rows } = await db.query<ReleasedPayout>(bindStatement(CLAIM_RELEASED, { at }));
  return rows;
}

/** Returns a claimed payout whose workflow was not signalled. */
export async function returnReleasedPayout(db: Queryable, payoutId: string): Promise<void> {
  await db.query({
    name: 'return_released_payout',
    text: 'update payouts set signalled_at = null where id = $1',
    values: [payoutId],
  });
}
