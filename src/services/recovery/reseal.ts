import { z } from 'zod';
import { retireOldKeys } from '../../crypto/derived-keys';
import { sealedPrefix, type SealBinding, type Sealer } from '../../crypto/sealing';
import type { Queryable } from '../../db/connection/pool';
import { ConflictError, messageOf } from '../../errors';
import type { AuditDependencies } from '../audit/audit';
import { ofInstallation } from '../operations/of-installation';
import { Operation } from '../operations/operation';
import { done } from '../operations/rejections';

/** Rows that a statement examines, whether it changes them or not. */
const BATCH = 500;
/** Processes that still use an old master key add values while a pass runs; after so many passes they must be fixed. */
const MAX_PASSES = 5;

/** A row with a sealed value. The other columns are those that `binding` needs. */
interface SealedRow {
  readonly id: string;
  readonly sealed: string;
  readonly bound: readonly string[];
}

interface SealedColumn {
  readonly table: string;
  readonly column: string;
  /** Indexed; a batch continues after it. */
  readonly id: string;
  readonly idType: 'uuid' | 'text';
  /** The smallest id. */
  readonly start: string;
  /** An SQL array of the columns that the value is bound to, besides the id. */
  readonly bound: string;
  readonly bindingOf: (row: SealedRow) => SealBinding;
}

const BY_UUID = { id: 'id', idType: 'uuid', start: '00000000-0000-0000-0000-000000000000' } as const;

/** Every sealed column of the database. The retired keys first: their rows permit to seal the others again. */
const SEALED_COLUMNS: readonly SealedColumn[] = [
  {
    table: 'retired_keys',
    column: 'sealed',
    id: 'key_id',
    idType: 'text',
    start: '',
    bound: 'array[label]',
    bindingOf: ({ id, bound: [label = ''] }) => ['retired-key', id, label],
  },
  {
    ...BY_UUID,
    table: 'provider_accounts',
    column: 'sealed_server_key',
    bound: 'array[adapter, base_url]',
    bindingOf: ({ id, bound: [adapter = '', baseUrl = ''] }) => ['provider-server-key', id, adapter, baseUrl],
  },
  {
    ...BY_UUID,
    table: 'provider_accounts',
    column: 'proposed_server_key',
    bound: 'array[adapter, base_url]',
    bindingOf: ({ id, bound: [adapter = '', baseUrl = ''] }) => ['provider-server-key', id, adapter, baseUrl],
  },
  {
    ...BY_UUID,
    table: 'provider_accounts',
    column: 'sealed_credentials',
    bound: 'array[adapter, base_url]',
    bindingOf: ({ id, bound: [adapter = '', baseUrl = ''] }) => ['provider-credentials', id, adapter, baseUrl],
  },
  {
    ...BY_UUID,
    table: 'webhook_secrets',
    column: 'sealed_secret',
    bound: 'array[]::text[]',
    bindingOf: ({ id }) => ['webhook-secret', id],
  },
  {
    ...BY_UUID,
    table: 'payment_details',
    column: 'sealed',
    id: 'payment_id',
    bound: 'array[]::text[]',
    bindingOf: ({ id }) => ['payment-details', id],
  },
  {
    ...BY_UUID,
    table: 'users',
    column: 'sealed_totp',
    bound: 'array[]::text[]',
    bindingOf: ({ id }) => ['totp', id],
  },
  {
    ...BY_UUID,
    table: 'bank_accounts',
    column: 'sealed_number',
    bound: 'array[merchant_id::text, bank_code]',
    bindingOf: ({ id, bound: [merchantId = '', bankCode = ''] }) => ['bank-account-number', id, merchantId, bankCode],
  },
  {
    ...BY_UUID,
    table: 'bank_accounts',
    column: 'sealed_holder_name',
    bound: 'array[]::text[]',
    bindingOf: ({ id }) => ['bank-account-holder', id],
  },
  {
    ...BY_UUID,
    table: 'payouts',
    column: 'sealed_terms',
    bound: 'array[]::text[]',
    bindingOf: ({ id }) => ['payout-terms', id],
  },
  {
    ...BY_UUID,
    table: 'merchant_identities',
    column: 'sealed_details',
    id: 'merchant_id',
    bound: 'array[version::text]',
    bindingOf: ({ id, bound: [version = ''] }) => ['merchant-identity', id, version],
  },
  {
    ...BY_UUID,
    table: 'fee_invoices',
    column: 'sealed_parties',
    bound: 'array[]::text[]',
    bindingOf: ({ id }) => ['fee-invoice', id],
  },
];

export interface ResealedTable {
  readonly table: string;
  readonly resealed: number;
}

interface ResealNeeds extends AuditDependencies {
  readonly sealer: Sealer;
  readonly report: (progress: ResealedTable) => void;
}

export const resealValues = new Operation({
  name: 'master_key.reseal',
  ...ofInstallation,
  input: z.object({}),
  load: ({ sealer }: ResealNeeds) => Promise.resolve(sealer.keys.current.id),
  target: ({ subject }) => subject,
  perform: async ({ needs: { db, sealer, report } }) => done(await resealAll(db, sealer, report)),
});

/**
 * Seals every value with the current master key. Afterwards the old master keys are not needed. It can be stopped and
 * repeated, and runs beside every process: a value that changed meanwhile is left as it is, and the next pass finds it.
 * @param report called after each batch
 * @throws ConflictError if a process keeps sealing with an old master key, or if the current one was replaced before
 */
export async function resealAll(
  db: Queryable,
  sealer: Sealer,
  report: (progress: ResealedTable) => void,
): Promise<ResealedTable[]> {
  await requireUnusedKey(db, sealer);
  await retireOldKeys(db, sealer);
  const results: ResealedTable[] = [];
  for (const column of SEALED_COLUMNS) {
    const advance = (after: string) => resealBatch(db, sealer, column, after);
    results.push(await repeatPasses(column.table, column.start, advance, report));
  }
  return results;
}

/** PostgreSQL seals nothing again with a master key that was replaced. */
async function requireUnusedKey(db: Queryable, { keys: { current } }: Sealer): Promise<void> {
  const { rowCount } = await db.query('select from retired_keys where key_id = $1', [current.id]);
  if (rowCount === 0) return;
  throw new ConflictError('old_master_key', `Master key ${current.id} was replaced before. Make a new one.`);
}

interface Batch {
  /** Rows that must change. */
  readonly found: number;
  /** The rows found that no other process changed meanwhile. */
  readonly changed: number;
  /** Undefined after the last batch. */
  readonly next: string | undefined;
}

/** Passes over a table until one finds nothing to change. */
async function repeatPasses(
  table: string,
  start: string,
  advance: (after: string) => Promise<Batch>,
  report: (progress: ResealedTable) => void,
): Promise<ResealedTable> {
  let resealed = 0;
  for (let pass = 1; pass <= MAX_PASSES; pass += 1) {
    const before = resealed;
    let isEmpty = true;
    for (let next: string | undefined = start; next !== undefined;) {
      const batch: Batch = await advance(next);
      isEmpty &&= batch.found === 0;
      resealed += batch.changed;
      next = batch.next;
      if (batch.changed > 0) report({ table, resealed });
    }
    if (isEmpty && resealed === before) return { table, resealed };
  }
  throw new ConflictError(
    'old_master_key',
    `${table} still gets values of an old master key. Restart every process with the new one, and run it again.`,
  );
}

async function resealBatch(
  db: Queryable,
  sealer: Sealer,
  { table, column, id, idType, bound, bindingOf }: SealedColumn,
  after: string,
): Promise<Batch> {
  const { rows: examined } = await db.query<SealedRow>(
    `select ${id}::text as id, ${column} as sealed, ${bound} as bound from ${table}
     where ${id} > $1::${idType} and ${column} is not null order by ${id} fetch first ${BATCH} rows with ties`,
    [after],
  );
  const next = examined.at(-1)?.id;
  const prefix = sealedPrefix(sealer);
  const rows = examined.filter(({ sealed }) => !sealed.startsWith(prefix));
  if (rows.length === 0) return { found: 0, changed: 0, next };
  const resealed = rows.map((row) => reseal(sealer, table, row, bindingOf(row)));
  const { rowCount } = await db.query(
    `update ${table} set ${column} = new.resealed
     from unnest($1::${idType}[], $2::text[], $3::text[]) as new (id, sealed, resealed)
     where ${table}.${id} = new.id and ${table}.${column} = new.sealed`,
    [rows.map((row) => row.id), rows.map((row) => row.sealed), resealed],
  );
  return { found: rows.length, changed: rowCount ?? 0, next };
}

/** @throws ConflictError that names the row if its value was changed, or moved from another row */
function reseal(sealer: Sealer, table: string, { id, sealed }: SealedRow, binding: SealBinding): string {
  try {
    return sealer.seal(sealer.open(sealed, binding), binding);
  } catch (error) {
    const text = `${table} ${id} has a sealed value that does not open: ${messageOf(error)}`;
    throw new ConflictError('old_master_key', text);
  }
}
