import { randomUUID } from 'node:crypto';
import { createPool } from '../../src/db/connection/pool';
import { createOperator } from '../../src/services/identity/operators';

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
