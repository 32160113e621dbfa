import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { Http } from './http';
import { times } from './load';
import { Merchant, registerMerchant } from './merchant';
import { Rig } from './rig';

/** Kilobytes that a paid and settled life leaves behind. */
export interface StorageResult {
  readonly lives: number;
  /** Rows and indexes, by table. */
  readonly tablesKb: Readonly<Record<string, number>>;
  /** Of the sandbox's and the service's databases together, whole pages included. */
  readonly walKb: number;
  /** Temporal's SQLite file: history, visibility and what is closed. */
  readonly temporalKb: number;
}

const LIVES_UNDER_WAY = 32;
const KB = 1_024;

/** What a life costs on disk: on fresh databases, after some lives that nobody counts. */
export async function measureStorage(lives: number): Promise<StorageResult> {
  const rig = await Rig.start();
  const { stack, masterKey, receiver } = rig;
  const [api, sandbox] = [new Http(stack.apiUrl), new Http(stack.sandboxUrl)];
  const receiverUrl = `${receiver.url}/lives`;
  const secretKey = await registerMerchant({ databaseUrl: stack.databaseUrl, masterKey, receiverUrl });
  const merchant = new Merchant(api, sandbox, secretKey);
  const live = (count: number) =>
    times(count, LIVES_UNDER_WAY, async () => receiver.life((await merchant.createAndPay()).id));
  try {
    await live(lives / 2);
    const before = await sizesOf(rig);
    await live(lives);
    const after = await sizesOf(rig);
    const perLife = (bytes: number): number => bytes / lives / KB;
    const tables = Object.keys(after.tables).map((table) => {
      return [table, perLife((after.tables[table] ?? 0) - (before.tables[table] ?? 0))] as const;
    });
    return {
      lives,
      tablesKb: Object.fromEntries(tables.filter(([, kilobytes]) => kilobytes > 0)),
      walKb: perLife(after.wal - before.wal),
      temporalKb: perLife(after.temporal - before.temporal),
    };
  } finally {
    await Promise.all([api.close(), sandbox.close()]);
    await rig.close();
  }
}

async function sizesOf(rig: Rig): Promise<{ tables: Record<string, number>; wal: number; temporal: number }> {
  const { rows: tables } = await rig.db.query<{ name: string; bytes: number }>(
    `select relname as name, pg_total_relation_size(oid) as bytes from pg_class
     where relkind = 'r' and relnamespace = 'public'::regnamespace`,
  );
  const { rows } = await rig.db.query<{ bytes: number }>(`select (pg_current_wal_lsn() - '0/0')::bigint as bytes`);
  const folder = path.dirname(rig.temporalDatabase);
  const files = await Promise.all((await readdir(folder)).map((file) => stat(path.join(folder, file))));
  return {
    tables: Object.fromEntries(tables.map(({ name, bytes }) => [name, bytes])),
    wal: rows[0]?.bytes ?? 0,
    temporal: files.reduce((sum, { size }) => sum + size, 0),
  };
}
