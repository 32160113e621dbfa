import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createPool } from '../../src/db/connection/pool';
import { PACKAGE_ROOT } from '../../src/package-info';
import { createTestDatabase } from '../support/database';
import { dumpSchema } from '../support/schema-dump';

const DUMP_FILE = path.join(PACKAGE_ROOT, 'src', 'db', 'schema.sql');

describe('the migrations', () => {
  it('lead to the schema in src/db/schema.sql (UPDATE_SCHEMA=1 writes it)', async () => {
    const database = await createTestDatabase();
    const db = createPool(database.url, { max: 1 });
    const dump = await dumpSchema(db);
    await db.end();
    await database.drop();
    if (process.env.UPDATE_SCHEMA === '1') writeFileSync(DUMP_FILE, dump);
    expect(readFileSync(DUMP_FILE, 'utf8')).toBe(dump);
  });
});
