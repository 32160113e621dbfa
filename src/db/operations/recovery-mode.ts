import type { ActorText } from '../../domain/actor';
import type { Queryable } from '../connection/pool';
import { onlyRow } from '../connection/require-row';

/** While it is on, nothing is settled and no refund is requested: PostgreSQL may be behind the provider. */
export interface RecoveryMode {
  readonly isOn: boolean;
  /** PostgreSQL is not on the recorded timeline: it was restored, or a standby was promoted. The mode is on then. */
  readonly isOnOtherTimeline: boolean;
  /** Since the mode last began, also if it has ended; null if it never began. */
  readonly begunAt: Date | null;
  readonly begunBy: ActorText | null;
  readonly reason: string | null;
  readonly endedAt: Date | null;
  /** Null where the server has no function for it. */
  readonly timeline: number | null;
  readonly recordedTimeline: number | null;
}

export const HAS_BEGUN = "coalesce(begun_at > coalesce(ended_at, '-infinity'), false)";
const IS_ON_OTHER_TIMELINE = 'coalesce(postgresql_timeline() <> timeline, false)';
/** Whether the mode is on, as an expression for statements. */
export const IS_RECOVERING = `(select ${HAS_BEGUN} or ${IS_ON_OTHER_TIMELINE} from recovery_mode)`;

/** Reads the mode and PostgreSQL's timeline, in one statement. */
export async function readRecoveryMode(db: Queryable): Promise<RecoveryMode> {
  const { rows } = await db.query<RecoveryMode>({
    name: 'read_recovery_mode',
    text: `select ${IS_RECOVERING} as "isOn", ${IS_ON_OTHER_TIMELINE} as "isOnOtherTimeline",
        begun_at as "begunAt", begun_by as "begunBy", reason, ended_at as "endedAt",
        postgresql_timeline() as timeline, timeline as "recordedTimeline"
      from recovery_mode`,
  });
  return onlyRow(rows, 'The table recovery_mode has no row');
}

/** What has succeeded since the mode began. */
export interface RecoveryProgress {
  readonly isRecovered: boolean;
  readonly isReconciled: boolean;
  /** Exceptions of reconciliations and of lost payouts. */
  readonly openExceptions: number;
}

/** Clocks differ: a full period may be this much shorter. */
const CLOCK_TOLERANCE = "interval '1 hour'";

interface RecoverySteps {
  /** The audited actions. */
  readonly recover: string;
  readonly reconcile: string;
  /** The period that a full reconciliation compares. */
  readonly fullPeriodDays: number;
}

/** A reconciliation counts if it has compared what changed in a full period, and what changed before the mode began. */
export async function readRecoveryProgress(
  db: Queryable,
  { recover, reconcile, fullPeriodDays }: RecoverySteps,
): Promise<RecoveryProgress> {
  const { rows } = await db.query<RecoveryProgress>({
    name: 'read_recovery_progress',
    text: `with done as (
          select action, target as since, iso_utc(least(
              begun_at, requested_at - make_interval(days => $3) + ${CLOCK_TOLERANCE})) as "neededSince"
          from operator_actions join operator_action_outcomes on action_id = id, recovery_mode
          where action in ($1, $2) and outcome = 'succeeded' and requested_at >= begun_at
        )
        select exists (select from done where action = $1) as "isRecovered",
          exists (select from done where action = $2 and since <= "neededSince") as "isReconciled",
          (select count(*)::integer from exceptions
           where kind in ('reconciliation', 'lost_payout') and resolved_at is null) as "openExceptions"`,
    values: [recover, reconcile, fullPeriodDays],
  });
  return onlyRow(rows, 'A select without a table has a row');
}

/** @returns whether it was off: who began it first, and why, stays */
export async function beginRecovery(
  db: Queryable,
  { by, reason }: { readonly by: ActorText; readonly reason: string },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'begin_recovery',
    text: `update recovery_mode set begun_by = $1, reason = $2,
        begun_at = greatest(now(), ended_at + interval '1 millisecond')
      where not ${HAS_BEGUN}`,
    values: [by, reason],
  });
  return rowCount === 1;
}

/** If PostgreSQL is on another timeline than recorded, begins the mode. @returns whether it was off */
export async function beginIfOnOtherTimeline(
  db: Queryable,
  { isOnOtherTimeline, timeline, recordedTimeline }: RecoveryMode,
  by: ActorText,
): Promise<boolean> {
  if (!isOnOtherTimeline) return false;
  return beginRecovery(db, {
    by,
    reason: `PostgreSQL is on timeline ${timeline}, and ${recordedTimeline} is recorded`,
  });
}

/**
 * Ends the mode, and records the timeline as the one on which Lunas may settle and refund.
 * @param timeline the one that was recovered
 * @returns false if PostgreSQL has left it since: then the mode stays on
 */
export async function endRecovery(db: Queryable, timeline: RecoveryMode['timeline']): Promise<boolean> {
  const { rowCount } = await db.query(
    `update recovery_mode set timeline = postgresql_timeline(), ended_at = greatest(now(), begun_at)
     where postgresql_timeline() is not distinct from $1`,
    [timeline],
  );
  return rowCount === 1;
}
