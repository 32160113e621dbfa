import type { QueryConfig } from 'pg';
import type { Pool } from '../../src/db/connection/pool';

/** Executes statements without triggers and foreign keys, as only a superuser can. */
export async function asSuperuser(db: Pool, ...statements: readonly (string | QueryConfig)[]): Promise<void> {
  const client = await db.connect();
  try {
    await client.query('set session_replication_role = replica');
    for (const statement of statements) await client.query(statement);
  } finally {
    client.release(true);
  }
}

/** Moves all payments with their history into the past, as a test cannot wait for days. Totals are counted anew. */
export async function backdatePayments(db: Pool, interval: string): Promise<void> {
  await asSuperuser(
    db,
    `update payments set created_at = created_at - ${interval}, updated_at = updated_at - ${interval}`,
    `update payment_transitions set occurred_at = occurred_at - ${interval}, recorded_at = recorded_at - ${interval}`,
    `update webhook_events set occurred_at = occurred_at - ${interval}`,
    'begin',
    "update totals_progress set transition_number = 0, counted_at = 'epoch'",
    'delete from payment_hour_totals',
    'commit',
  );
}
