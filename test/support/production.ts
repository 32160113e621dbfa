import { randomUUID } from 'node:crypto';
import { createPool } from '../../src/db/connection/pool';
import { codeOf } from '../../src/errors';
import { withClient } from '../../src/local-stack/postgres';
import { createOperator } from '../../src/services/identity/operators';
import type { TestDatabase } from './database';

/** The variables of a new operator who runs commands on a production database. */
export async function productionOperator(databaseUrl: string): Promise<NodeJS.ProcessEnv> {
  const db = createPool(databaseUrl, { max: 1 });
  try {
    const { secret } = await createOperator(db, { name: randomUUID(), environment: 'production' });
    return { DATABASE_URL: databaseUrl, LUNAS_ENVIRONMENT: 'production', LUNAS_OPERATOR_KEY: secret };
  } finally {
    await db.end();
  }
}

const DUPLICATE_ROLE: ReadonlySet<string | undefined> = new Set(['42710', '23505']);

/** The URL with an operator's own login role, as in production. The role stays on the server of the run. */
export async function urlOfOperator({ url }: TestDatabase, name: string): Promise<string> {
  const login = new URL(url);
  login.username = `test_operator_${name}`;
  login.password = 'secret';
  const statement = `create role ${login.username} login password '${login.password}' in role lunas_operator`;
  await withClient(url, (client) =>
    client.query(statement).catch((error: unknown) => {
      if (!DUPLICATE_ROLE.has(codeOf(error))) throw error;
    }),
  );
  return login.href;
}
