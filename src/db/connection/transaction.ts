import type { Pool, Queryable } from './pool';

/** A process that is paused for longer, without a statement, loses its transaction and its locks. */
const MAX_IDLE = '5min';

/**
 * Runs work in one transaction, which is rolled back if the work fails. If the commit fails, the transaction may be
 * committed nevertheless.
 */
export async function inTransaction<Result>(db: Pool, work: (client: Queryable) => Promise<Result>): Promise<Result> {
  const client = await db.connect();
  // Without a listener a connection that is lost between two statements ends the process. The next statement fails.
  client.on('error', () => undefined);
  let isCommitted = false;
  try {
    await client.query('begin');
    await client.query(`set local idle_in_transaction_session_timeout = '${MAX_IDLE}'`);
    const result = await work(client);
    await client.query('commit');
    isCommitted = true;
    return result;
  } finally {
    // A connection that is closed rolls its transaction back.
    client.removeAllListeners('error');
    client.release(!isCommitted);
  }
}
