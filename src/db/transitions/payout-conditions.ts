import { PROPOSAL_STATUSES } from '../../domain/bank-account-transitions';
import type { PayoutObstacle } from '../../domain/payout-rejections';
import { literalList } from '../connection/statement';
import { IS_RECOVERING } from '../operations/recovery-mode';

/** The joins of `merchant` to what the conditions read, for a statement with the parameter `:at`. */
interface ObstacleJoins {
  /** The condition that finds the bank account, as `account`. */
  readonly account: string;
  /** The condition that finds our account at the bank, as `source`. */
  readonly source: string;
}

export function obstacleJoins({ account, source }: ObstacleJoins): string {
  return `
    left join bank_accounts account on ${account}
    left join provider_accounts source on ${source} and source.purpose = 'payouts' and source.status = 'enabled'`;
}

/** In the order in which they are reported. `request` and `submit` compare them, and pages read them. */
const conditionsAt = (at: string) => ({
  merchant_not_approved: "merchant.status <> 'approved'",
  merchant_on_hold: 'merchant.held_at is not null',
  payouts_stopped: '(select is_stopped from payout_stops order by id desc limit 1)',
  recovery_mode: IS_RECOVERING,
  no_payouts_account: 'source.id is null',
  no_bank_account: "account.id is null or account.status not in ('active', 'suspended')",
  bank_account_suspended: "account.status = 'suspended'",
  proposal_open: `exists (
        select from bank_accounts proposal
        where proposal.merchant_id = merchant.id and proposal.status in (${literalList(PROPOSAL_STATUSES)}))`,
  cooling_down: `account.usable_from > ${at}`,
});

/** The name of the first condition that keeps a payout back; null: none does. */
export const obstacleAt = (at: string): string => `case
${Object.entries(conditionsAt(at) satisfies Readonly<Record<PayoutObstacle, string>>)
  .map(([name, condition]) => `      when ${condition} then '${name}'`)
  .join('\n')}
    end`;

/** The obstacle of a payout in a statement with the parameter `:at`. */
export const OBSTACLE = obstacleAt(':at::timestamptz');

/**
 * Whether PostgreSQL may have lost that a payout was sent: it was recorded before the newest recovery ended, or a
 * recovery wrote it again. The bank may have it already. By PostgreSQL's clock, as the end of the recovery is.
 */
export function isOlderThanRecovery(payoutId: string): string {
  return `exists (
      select from payouts older join payout_transitions history on history.payout_id = older.id and history.version = 1
        cross join recovery_mode
      where older.id = ${payoutId} and (older.is_rebuilt or history.recorded_at <= recovery_mode.ended_at))`;
}
