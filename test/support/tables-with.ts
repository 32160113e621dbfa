import type { Pool } from '../../src/db/connection/pool';

/** The tables that have this text in any column of any row. */
export async function tablesWith(db: Pool, text: string): Promise<string[]> {
  const { rows: tables } = await db.query<{ name: string }>(
    "select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'",
  );
  const hits: string[] = [];
  for (const { name } of tables) {
    const { rowCount } = await db.query(`select from ${name} as content where content::text like $1`, [`%${text}%`]);
    if (rowCount !== 0) hits.push(name);
  }
  return hits;
}
