import { z } from 'zod';
import type { Queryable } from '../../db/connection/pool';
import { onlyRow } from '../../db/connection/require-row';
import type { AuditDependencies } from '../audit/audit';
import { Operation } from '../operations/operation';
import { done, rejected } from '../operations/rejections';

/** A row of `payout_limits`, by its columns: a trigger compares it with what two operators have approved. */
const payoutLimits = z.object({
  /** A new bank account receives nothing for so long. */
  cooldown_seconds: z.int().min(0),
  /** The time after the last call in which a payout that the bank does not know may still arrive there. */
  not_found_seconds: z.int().min(0),
  /** An operator approves payouts above this sum of a merchant and a WIB day. */
  day_limit_rupiah: z.int().min(0),
});
export type PayoutLimits = z.output<typeof payoutLimits>;

const COLUMNS = 'cooldown_seconds, not_found_seconds, day_limit_rupiah';

/** The limits of payouts in force. */
export async function getPayoutLimits(db: Queryable): Promise<PayoutLimits> {
  const { rows } = await db.query<PayoutLimits>(`select ${COLUMNS} from payout_limits order by id desc limit 1`);
  return onlyRow(rows, 'The database has no limits of payouts');
}

const DAY_SECONDS = 86_400;

/** Changes the limits of payouts. Absent ones keep their values. */
export const setPayoutLimits = new Operation({
  name: 'payout.set_limits',
  operator: 'all',
  path: z.object({}),
  input: payoutLimits.partial(),
  rejections: { below_a_day: {}, superseded: {} },
  messages: {
    below_a_day: () => 'In production the cool-down and the wait for the bank are at least a day.',
    superseded: () => 'There are newer limits than those that this request would have replaced: request it again.',
  },
  async load({ db }: AuditDependencies) {
    const { rows } = await db.query<PayoutLimits & { readonly id: number; readonly isProduction: boolean }>(
      `select id, ${COLUMNS}, is_production() as "isProduction" from payout_limits order by id desc limit 1`,
    );
    return onlyRow(rows, 'The database has no limits of payouts');
  },
  target: () => 'limits of payouts',
  /** A trigger has the same rule. */
  allows({ isProduction, ...before }, _by, input = {}) {
    const { cooldown_seconds: cooldown = before.cooldown_seconds } = input;
    const { not_found_seconds: notFound = before.not_found_seconds } = input;
    return isProduction && Math.min(cooldown, notFound) < DAY_SECONDS ? { reason: 'below_a_day' } : null;
  },
  approval: { executes: 'database', replaces: ({ id }) => id },
  async perform({ needs: { db }, subject, input, approval }) {
    const { rows } = await db.query<PayoutLimits>(
      `insert into payout_limits (${COLUMNS}, replaces_id)
       select changed.cooldown_seconds, changed.not_found_seconds, changed.day_limit_rupiah, before.id
       from payout_limits before, jsonb_populate_record(before, $2) changed where before.id = $1
       on conflict (replaces_id) do nothing returning ${COLUMNS}`,
      [approval === null ? subject.id : approval.replaces, JSON.stringify(input)],
    );
    return rows[0] === undefined ? rejected({ reason: 'superseded' }) : done(rows[0]);
  },
});
