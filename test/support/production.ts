import { randomUUID } from 'node:crypto';
import { createPool, type Pool, type Queryable } from '../../src/db/connection/pool';
import { codeOf } from '../../src/errors';
import { withClient } from '../../src/local-stack/postgres';
import { insertOperator } from '../../src/services/identity/operators';
import { asSuperuser } from './backdate';
import type { TestDatabase } from './database';

/** The template of the tests is a sandbox, and a trigger rejects the change. */
export async function setEnvironment(db: Pool, environment: 'sandbox' | 'production'): Promise<void> {
  await asSuperuser(db, { text: 'update installation set environment = $1', values: [environment] });
}

/** The variables of a new operator who runs commands on a production database. */
export async function productionOperator(databaseUrl: string): Promise<NodeJS.ProcessEnv> {
  const db = createPool(databaseUrl, { max: 1 });
  try {
    const { secret } = await insertOperator(db, { name: randomUUID(), environment: 'production' });
    return { DATABASE_URL: databaseUrl, LUNAS_ENVIRONMENT: 'production', LUNAS_OPERATOR_KEY: secret };
  } finally {
    await db.end();
  }
}

const DUPLICATE_ROLE: ReadonlySet<string | undefined> = new Set(['42710', '23505']);

/** Creates an operator's own login role, as in production. It stays on the server of the run. @returns its name */
async function loginOfOperator({ url }: TestDatabase, name: string): Promise<string> {
  const login = `test_operator_${name}`;
  const statement = `create role ${login} login password 'secret' in role lunas_operator`;
  await withClient(url, (client) =>
    client.query(statement).catch((error: unknown) => {
      if (!DUPLICATE_ROLE.has(codeOf(error))) throw error;
    }),
  );
  return login;
}

/** The URL with an operator's own login role. */
export async function urlOfOperator(database: TestDatabase, name: string): Promise<string> {
  const login = new URL(database.url);
  login.username = await loginOfOperator(database, name);
  login.password = 'secret';
  return login.href;
}

/** An operator of production with a login role. */
export async function createOperatorWithLogin(database: TestDatabase, db: Queryable, name: string) {
  return insertOperator(db, { name, environment: 'production', login: await loginOfOperator(database, name) });
}
