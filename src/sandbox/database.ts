import { Client, Pool, type PoolClient } from 'pg';
import { codeOf } from '../errors';
import { statementLimit } from '../lib/pooler';
import { BANK_TABLES } from './bank/transfer-records';
import { totalsOf } from './magic-amounts';
import { SHOP_TABLES } from './shops';
import { SNAP_TABLES } from './snap/snap-tables';

/** Midtrans' statuses. `settlement` means that the customer has paid. */
export const ORDER_STATUSES = ['pending', 'settlement', 'expire', 'cancel', 'refund', 'partial_refund'] as const;

const AUTO_PAY_TOTALS = [...totalsOf('pays'), ...totalsOf('pays_late')].join(', ');

/** The sandbox's ledger: one row per order, refund and notification. No row is deleted. */
const SCHEMA = `
  create table if not exists payments (
    order_id            text primary key,
    transaction_id      text not null unique,
    acquirer            text not null,
    gross_amount_rupiah integer not null check (gross_amount_rupiah > 0),
    status              text not null check (status in (${ORDER_STATUSES.map((status) => `'${status}'`).join(', ')})),
    qr_reference        text not null unique,
    qr_string           text not null,
    notification_url    text,
    idempotency_key     text,
    charge_calls        integer not null default 1,
    charged_at          timestamptz not null default now(),
    expires_at          timestamptz not null,
    paid_at             timestamptz
  );
  -- of the expiry or cancellation
  alter table payments add column if not exists ended_at timestamptz;
  alter table payments add column if not exists status_calls integer not null default 0;
  create index if not exists payments_pending on payments (expires_at) where status = 'pending';
  create index if not exists payments_self_paying on payments (charged_at)
    where paid_at is null and gross_amount_rupiah in (${AUTO_PAY_TOTALS});
  create index if not exists payments_newest on payments (charged_at desc, order_id);

  create table if not exists refunds (
    chargeback_id integer generated always as identity,
    order_id      text not null references payments,
    refund_key    text not null,
    amount_rupiah integer not null check (amount_rupiah > 0),
    reason        text not null,
    status        text not null check (status in ('requested', 'confirmed', 'rejected')),
    created_at    timestamptz not null default now(),
    confirmed_at  timestamptz,
    primary key (order_id, refund_key)
  );
  create index if not exists refunds_requested on refunds (created_at) where status = 'requested';

  -- One row. With the default delay, a merchant can still read the refund as requested.
  create table if not exists bank (
    is_only_row                   boolean primary key default true check (is_only_row),
    refund_confirms_after_seconds double precision not null default 1 check (refund_confirms_after_seconds >= 0)
  );
  insert into bank default values on conflict do nothing;

  create table if not exists notifications (
    id         bigint generated always as identity primary key,
    order_id   text not null references payments,
    url        text not null,
    body       text not null,
    attempts   integer not null default 0,
    created_at timestamptz not null default now(),
    -- of the next attempt; null if delivered or abandoned
    due_at     timestamptz default now(),
    outcome    text
  );
  -- of the latest attempt: the HTTP status, or the error
  alter table notifications add column if not exists last_response text;
  create index if not exists notifications_due on notifications (due_at) where due_at is not null;
${SHOP_TABLES}${SNAP_TABLES}${BANK_TABLES}`;

const DATABASE_MISSING = '3D000';
const DATABASE_EXISTS = new Set(['42P04', '23505']);
const SCHEMA_LOCK = 7_107_717;
const STATEMENT_TIMEOUT_MS = 15_000;

/** Opens the ledger at `databaseUrl`. Creates the database and its tables if they do not exist. */
export async function openDatabase(databaseUrl: string): Promise<Pool> {
  await withClient(databaseUrl, createTables).catch(async (error: unknown) => {
    if (codeOf(error) !== DATABASE_MISSING) throw error;
    await createDatabase(databaseUrl);
    await withClient(databaseUrl, createTables);
  });
  return new Pool({
    connectionString: databaseUrl,
    max: 20,
    connectionTimeoutMillis: 5000,
    ...statementLimit(databaseUrl, STATEMENT_TIMEOUT_MS),
    application_name: 'lunas-sandbox',
  });
}

async function createTables(client: Client): Promise<void> {
  await client.query('begin');
  await client.query('select pg_advisory_xact_lock($1)', [SCHEMA_LOCK]);
  await client.query(SCHEMA);
  await client.query('commit');
}

async function createDatabase(databaseUrl: string): Promise<void> {
  const maintenance = new URL(databaseUrl);
  const name = decodeURIComponent(maintenance.pathname.slice(1));
  maintenance.pathname = '/postgres';
  await withClient(maintenance.href, async (client) => {
    await client.query(`create database ${client.escapeIdentifier(name)}`).catch((error: unknown) => {
      if (!DATABASE_EXISTS.has(codeOf(error) ?? '')) throw error;
    });
  });
}

async function withClient(databaseUrl: string, work: (client: Client) => Promise<void>): Promise<void> {
  const client = new Client({ connectionString: databaseUrl });
  try {
    await client.connect();
    await work(client);
  } finally {
    await client.end();
  }
}

/** Runs `work` in one transaction: all of it, or nothing. */
export async function inTransaction<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken = false;
  try {
    await client.query('begin');
    const result = await work(client);
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch(() => {
      broken = true;
    });
    throw error;
  } finally {
    client.release(broken);
  }
}
