import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { Client } from 'pg';
import type { Environment } from '../../config';
import { ONLY_CELL } from '../../domain/cell';
import { codeOf, UserError } from '../../errors';
import { PACKAGE_ROOT } from '../../package-info';
import { environmentMismatch, findCell, readEnvironment, recordInstallation } from './environment';
import { describeLockWait, observeLockWaits } from './lock-wait';
import { createPool, type Queryable } from './pool';
import { onlyRow } from './require-row';

const MIGRATIONS_DIRECTORY = path.join(PACKAGE_ROOT, 'src', 'db', 'migrations');
const MIGRATIONS_TABLE = 'schema_migrations';
/** The migrations had other names before the first release. */
const FIRST_MIGRATION = '0001_schema_roles';
const DEVELOPMENT_SCHEMA =
  'This database was created by a development version of Lunas, from before the first release, ' +
  'and this version cannot migrate it: use a new database.';

/**
 * While a migration waits for a lock, all later statements on that table wait behind it. The command ends within five
 * seconds then, its start and its other statements included.
 */
const LOCK_TIMEOUT_MS = 4_000;
const LOCK_NOT_AVAILABLE = '55P03';
const CONNECT_TIMEOUT_MS = 5_000;

/**
 * Migrates the database to the newest schema: numbered SQL files, under an advisory lock. A new database gets all of
 * them in one transaction, an existing one each in a transaction of its own, which holds its locks for a short time. A
 * migration that waits too long for a lock is rolled back, so that other statements continue. It is not retried: each
 * attempt would block them again. The first migration of a database records its environment and its cell.
 * @param environment undefined: that which the database records
 * @param cell undefined: that which the database records, else the only one
 * @returns the names of the migrations that were applied now, in order
 * @throws UserError if the environment is not given and not recorded, or the recorded one is another; likewise the cell
 * @throws UserError if a version before the first release created the schema: it stays as it is
 * @throws UserError if there are migrations to apply, and the role may not change the schema
 * @throws UserError if a migration would build an index of a large table
 * @throws UserError if another session holds a lock for too long; it names that session
 */
export async function migrate(
  databaseUrl: string,
  environment: Environment | undefined,
  cell?: string,
): Promise<string[]> {
  const { missing, unknown } = await compareSchema(databaseUrl);
  if (missing.includes(FIRST_MIGRATION) && unknown.length > 0) throw new UserError(DEVELOPMENT_SCHEMA);
  const recorded = await readEnvironment(databaseUrl);
  const decided = decideEnvironment(environment, recorded);
  if (recorded !== null) await requireCell(databaseUrl, cell);
  // Without anything to do it needs no rights of the owner.
  if (missing.length > 0) {
    await withConnection(databaseUrl, requireOwner);
    const isNew = missing.includes(FIRST_MIGRATION);
    if (!isNew) await withConnection(databaseUrl, (db) => requireIndexes(db, missing));
    await withConnection(databaseUrl, (observer) => applyMigrations(databaseUrl, observer, isNew));
  }
  if (recorded === null) {
    await withConnection(databaseUrl, (db) => recordInstallation(db, decided, cell ?? ONLY_CELL));
    await requireCell(databaseUrl, cell);
  }
  return missing;
}

function decideEnvironment(environment: Environment | undefined, recorded: Environment | null): Environment {
  const mismatch = environmentMismatch(environment, recorded);
  if (mismatch !== null) throw new UserError(`${mismatch} Correct DATABASE_URL or LUNAS_ENVIRONMENT.`);
  const decided = recorded ?? environment;
  if (decided !== undefined) return decided;
  throw new UserError(
    'LUNAS_ENVIRONMENT is not set. Set it to sandbox or production: the first migration records it, permanently.',
  );
}

/** @throws UserError if the database has another cell, whose keys and references it has issued */
async function requireCell(databaseUrl: string, cell: string | undefined): Promise<void> {
  if (cell === undefined) return;
  const recorded = await withConnection(databaseUrl, findCell);
  if (recorded !== cell) {
    throw new UserError(
      `This is the database of cell ${recorded}, not of ${cell}. Correct DATABASE_URL or LUNAS_CELL.`,
    );
  }
}

/** More rows than these take longer to index than other statements can wait. */
const LARGE_TABLE_ROWS = 1_000_000;

const CREATE_INDEX = /^create (?:unique )?index (?:if not exists )?(?<index>\w+) on (?<table>\w+)[^;]*;/gm;

/**
 * An index of a large table is built before, without blocking its writes.
 * @throws UserError with the statements, if a migration would build one
 */
async function requireIndexes(db: Queryable, missing: readonly string[]): Promise<void> {
  const blocking: string[] = [];
  for (const name of missing) {
    const text = await readFile(path.join(MIGRATIONS_DIRECTORY, `${name}.sql`), 'utf8');
    for (const { 0: statement, groups } of text.matchAll(CREATE_INDEX)) {
      if (await buildsLargeIndex(db, groups?.index ?? '', groups?.table ?? '')) blocking.push(statement);
    }
  }
  if (blocking.length === 0) return;
  const statements = blocking.map((statement) => statement.replace(' index ', ' index concurrently ')).join('\n');
  throw new UserError(
    'A migration would block all writes to a large table while it builds an index. Build it before ' +
      `(docs/production.md, "Migrations on a large database"), then run the command again:\n${statements}`,
  );
}

/** By the estimate of the planner, as counting takes minutes. */
async function buildsLargeIndex(db: Queryable, index: string, table: string): Promise<boolean> {
  const { rows } = await db.query<{ isLarge: boolean | null }>(
    `select to_regclass($1) is null
       and (select reltuples > ${LARGE_TABLE_ROWS} from pg_class where oid = to_regclass($2)) as "isLarge"`,
    [index, table],
  );
  return onlyRow(rows).isLarge ?? false;
}

/** The migration tool would report the stack of its own error. */
async function requireOwner(db: Queryable): Promise<void> {
  const { rows } = await db.query<{ role: string; mayCreate: boolean }>(
    `select current_user as role, has_schema_privilege(current_schema(), 'create') as "mayCreate"`,
  );
  const { role, mayCreate } = onlyRow(rows);
  if (mayCreate) return;
  throw new UserError(
    `The role ${role} may not change the schema: a migration needs a member of lunas_owner ` +
      '(docs/production.md, "Database roles").',
  );
}

async function applyMigrations(databaseUrl: string, observer: Queryable, isNew: boolean): Promise<void> {
  const client = new Client({
    connectionString: databaseUrl,
    lock_timeout: LOCK_TIMEOUT_MS,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    application_name: 'lunas migrate',
  });
  // The next statement reports a connection that is lost.
  client.on('error', () => undefined);
  await client.connect();
  try {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    const { pid } = onlyRow(rows);
    const { error, lastWait } = await observeLockWaits(observer, pid, () => runMigrations(client, isNew));
    if (lastWait && codeOf(error) === LOCK_NOT_AVAILABLE) {
      throw new UserError(describeLockWait(lastWait), { cause: error });
    }
    if (error !== undefined) throw error;
  } finally {
    await client.end();
  }
}

/** @param isNew the database has no migration yet: it gets the whole schema or none of it */
async function runMigrations(dbClient: Client, isNew: boolean): Promise<void> {
  const { runner } = await import('node-pg-migrate');
  await runner({
    dbClient,
    dir: MIGRATIONS_DIRECTORY,
    direction: 'up',
    migrationsTable: MIGRATIONS_TABLE,
    advisoryLockMode: 'wait',
    singleTransaction: isNew,
    log: () => undefined,
  });
}

/** The differences between the database's schema and that of this version, by names of migrations. */
export interface SchemaDifference {
  /** This version ships them, and the database has not applied them. */
  readonly missing: string[];
  /** The database has applied them, and this version does not know them: a newer version has migrated it. */
  readonly unknown: string[];
}

/** Compares the migrations that the database has applied with those that this version ships. */
export async function compareSchema(databaseUrl: string): Promise<SchemaDifference> {
  const [shipped, applied] = [await listShipped(), await withConnection(databaseUrl, listApplied)];
  return {
    missing: shipped.filter((name) => !applied.includes(name)),
    unknown: applied.filter((name) => !shipped.includes(name)),
  };
}

async function withConnection<T>(databaseUrl: string, work: (db: Queryable) => Promise<T>): Promise<T> {
  const db = createPool(databaseUrl, { max: 1 });
  try {
    return await work(db);
  } finally {
    await db.end();
  }
}

async function listShipped(): Promise<string[]> {
  const files = await readdir(MIGRATIONS_DIRECTORY);
  return files.map((file) => path.parse(file).name).toSorted();
}

async function listApplied(db: Queryable): Promise<string[]> {
  const { rows: tables } = await db.query(
    'select from pg_tables where tablename = $1 and schemaname = current_schema()',
    [MIGRATIONS_TABLE],
  );
  if (tables.length === 0) return [];
  const { rows } = await db.query<{ name: string }>(`select name from ${MIGRATIONS_TABLE} order by name`);
  return rows.map(({ name }) => name);
}
