import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { BenchmarkHarness } from './harness';
import { Http } from './http';
import { times } from './load-generator';
import { BenchmarkMerchant, registerMerchant } from './merchant';

/** Kilobytes on disk for each paid and settled payment. */
export interface StorageResult {
  readonly lifecycles: number;
  /** Rows and indexes, by table. */
  readonly tablesKb: Readonly<Record<string, number>>;
  /** The write-ahead log of the databases of sandbox and service together, with full-page images. */
  readonly walKb: number;
  /** Temporal's SQLite file: histories and visibility, closed workflows included. */
  readonly temporalKb: number;
}

const CONCURRENCY = 32;
const KB = 1_024;

/** Measures on new databases, after a warm-up that is not counted. */
export async function measureStorage(lifecycles: number): Promise<StorageResult> {
  const harness = await BenchmarkHarness.start();
  const { stack, masterKey, receiver } = harness;
  const [api, sandbox] = [new Http(stack.apiUrl), new Http(stack.sandboxUrl)];
  const receiverUrl = `${receiver.url}/lifecycles`;
  const secretKey = await registerMerchant({ databaseUrl: stack.databaseUrl, masterKey, receiverUrl });
  const merchant = new BenchmarkMerchant(api, sandbox, secretKey);
  const runLifecycles = (count: number) =>
    times(count, CONCURRENCY, async () => receiver.lifecycle((await merchant.createAndPay()).id));
  try {
    await runLifecycles(lifecycles / 2);
    const before = await sizesOf(harness);
    await runLifecycles(lifecycles);
    const after = await sizesOf(harness);
    const perLifecycle = (bytes: number): number => bytes / lifecycles / KB;
    const tables = Object.keys(after.tables).map((table) => {
      return [table, perLifecycle((after.tables[table] ?? 0) - (before.tables[table] ?? 0))] as const;
    });
    return {
      lifecycles,
      tablesKb: Object.fromEntries(tables.filter(([, kilobytes]) => kilobytes > 0)),
      walKb: perLifecycle(after.wal - before.wal),
      temporalKb: perLifecycle(after.temporal - before.temporal),
    };
  } finally {
    await Promise.all([api.close(), sandbox.close()]);
    await harness.close();
  }
}

async function sizesOf(
  harness: BenchmarkHarness,
): Promise<{ tables: Record<string, number>; wal: number; temporal: number }> {
  const { rows: tables } = await harness.db.query<{ name: string; bytes: number }>(
    `select relname as name, pg_total_relation_size(oid) as bytes from pg_class
     where relkind = 'r' and relnamespace = 'public'::regnamespace`,
  );
  const { rows } = await harness.db.query<{ bytes: number }>(`select (pg_current_wal_lsn() - '0/0')::bigint as bytes`);
  const directory = path.dirname(harness.temporalDatabase);
  const files = await Promise.all((await readdir(directory)).map((file) => stat(path.join(directory, file))));
  return {
    tables: Object.fromEntries(tables.map(({ name, bytes }) => [name, bytes])),
    wal: rows[0]?.bytes ?? 0,
    temporal: files.reduce((sum, { size }) => sum + size, 0),
  };
}
