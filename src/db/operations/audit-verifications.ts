import type { Queryable } from '../connection/pool';

/** An entry of the audit chain. */
export interface AuditPosition {
  readonly position: number;
  readonly hash: Buffer;
}

/** What the newest verification of new entries has reached without a break; undefined: nothing yet. */
export async function findVerifiedPosition(db: Queryable): Promise<AuditPosition | undefined> {
  const { rows } = await db.query<AuditPosition>(
    'select position, head as hash from audit_verifications where not is_full and head is not null',
  );
  return rows[0];
}

interface RecordedVerification {
  readonly isFull: boolean;
  /** The last entry that was verified; undefined: there is none. */
  readonly reached: AuditPosition | undefined;
  readonly breakCount: number;
  /** The first of them. */
  readonly breaks: readonly string[];
}

/** One that found breaks leaves the position as it was: the next one finds them too. */
export async function recordAuditVerification(
  db: Queryable,
  { isFull, reached, breakCount, breaks }: RecordedVerification,
): Promise<void> {
  await db.query(
    `insert into audit_verifications as recorded (is_full, position, head, break_count, breaks)
     values ($1, $2, $3, $4, $5)
     on conflict (is_full) do update set verified_at = now(), break_count = excluded.break_count,
       breaks = excluded.breaks,
       position = case excluded.break_count when 0 then excluded.position else recorded.position end,
       head = case excluded.break_count when 0 then excluded.head else recorded.head end`,
    [isFull, ...(breakCount === 0 && reached ? [reached.position, reached.hash] : [0, null]), breakCount, breaks],
  );
}
