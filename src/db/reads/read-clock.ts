import type { Queryable } from '../pool';

/** PostgreSQL's clock, in milliseconds since 1970. */
export async function readClockMs(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ now: Date }>({ name: 'read_clock', text: 'select clock_timestamp() as now' });
  return rows[0]?.now.getTime() ?? 0;
}
