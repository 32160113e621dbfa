import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { TEMPLATE_DATABASE, testAddress } from './addresses';

export interface TestDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

/** The address of a database that does not exist yet, for a process that creates its own. Drop it in `afterAll`. */
export function newDatabase(): TestDatabase {
  return databaseNamed(`test_${randomUUID().replaceAll('-', '')}`);
}

/** A migrated, empty database of one's own, copied from the template in some milliseconds. Drop it in `afterAll`. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await onServer(`CREATE DATABASE ${name} TEMPLATE ${TEMPLATE_DATABASE}`);
  return databaseNamed(name);
}

function databaseNamed(name: string): TestDatabase {
  const url = new URL(testAddress('DATABASE_SERVER_URL'));
  url.pathname = name;
  return { url: url.href, drop: () => onServer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
}

async function onServer(statement: string): Promise<void> {
  const client = new Client({ connectionString: testAddress('DATABASE_SERVER_URL') });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
