import type { Queryable } from '../../db/connection/pool';

/** What stops all payouts. */
export interface PayoutStop {
  readonly stoppedBy: string;
  readonly stoppedAt: Date;
  readonly note: string;
}

/** The target of a stop and a start in the audit log. */
export const ALL_PAYOUTS = 'all payouts';

interface StopRow extends PayoutStop {
  readonly id: number;
  readonly isStopped: boolean;
}

/** The newest stop or start; undefined: payouts were never stopped. */
export async function findNewestStop(db: Queryable): Promise<StopRow | undefined> {
  const { rows } = await db.query<StopRow>(
    `select id, is_stopped as "isStopped", changed_by as "stoppedBy", changed_at as "stoppedAt", note
     from payout_stops order by id desc limit 1`,
  );
  return rows[0];
}

/** Null: payouts are not stopped. */
export async function findPayoutStop(db: Queryable): Promise<PayoutStop | null> {
  const newest = await findNewestStop(db);
  if (!newest?.isStopped) return null;
  const { stoppedBy, stoppedAt, note } = newest;
  return { stoppedBy, stoppedAt, note };
}
