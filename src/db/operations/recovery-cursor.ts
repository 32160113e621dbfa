import type { Queryable } from '../connection/pool';
import { HAS_BEGUN } from './recovery-mode';

/** An open payment, in the order in which a recovery reads them, and how many it has done by then. */
export interface RecoveryCursor {
  readonly accountId: string;
  readonly paymentId: string;
  readonly doneCount: number;
}

/** Later, Temporal may have lost again what was recovered before. */
const VALID_FOR = "interval '1 hour'";

/** Where a recovery that was stopped goes on; undefined if there is none, or it began before recovery mode. */
export async function findRecoveryCursor(db: Queryable): Promise<RecoveryCursor | undefined> {
  const { rows } = await db.query<RecoveryCursor>({
    name: 'find_recovery_cursor',
    text: `select provider_account_id as "accountId", payment_id as "paymentId", done_count as "doneCount"
      from recovery_cursor where saved_at > now() - ${VALID_FOR}
        and not exists (select from recovery_mode where ${HAS_BEGUN} and begun_at > saved_at)`,
  });
  return rows[0];
}

export async function saveRecoveryCursor(
  db: Queryable,
  { accountId, paymentId, doneCount }: RecoveryCursor,
): Promise<void> {
  await db.query({
    name: 'save_recovery_cursor',
    text: `insert into recovery_cursor (provider_account_id, payment_id, done_count) values ($1, $2, $3)
      on conflict (is_only) do update set provider_account_id = $1, payment_id = $2, done_count = $3, saved_at = now()`,
    values: [accountId, paymentId, doneCount],
  });
}

/** After a recovery that ended. */
export async function removeRecoveryCursor(db: Queryable): Promise<void> {
  await db.query({ name: 'remove_recovery_cursor', text: 'delete from recovery_cursor' });
}
