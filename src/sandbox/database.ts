import { Client, Pool, type PoolClient } from 'pg';
import { codeOf } from '../errors';
import { totalsOf } from './magic-amounts';

/** Midtrans' words. `settlement` means that the customer has paid. */
export const ORDER_STATUSES = ['pending', 'settlement', 'expire', 'cancel', 'refund', 'partial_refund'] as const;

const AUTO_PAY_TOTALS = [...totalsOf('pays'), ...totalsOf('pays_late')].join(', ');

/** The sandbox's own ledger. One row a charge, a refund, a notification; nothing is ever deleted. */
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS payments (
    order_id            text PRIMARY KEY,
    transaction_id      text NOT NULL UNIQUE,
    acquirer            text NOT NULL,
    gross_amount_rupiah integer NOT NULL CHECK (gross_amount_rupiah > 0),
    status              text NOT NULL CHECK (status IN (${ORDER_STATUSES.map((status) => `'${status}'`).join(', ')})),
    qr_reference        text NOT NULL UNIQUE,
    qr_string           text NOT NULL,
    notification_url    text,
    idempotency_key     text,
    charge_calls        integer NOT NULL DEFAULT 1,
    charged_at          timestamptz NOT NULL DEFAULT now(),
    expires_at          timestamptz NOT NULL,
    paid_at             timestamptz
  );
  -- When it expired or was cancelled.
  ALTER TABLE payments ADD COLUMN IF NOT EXISTS ended_at timestamptz;
  ALTER TABLE payments ADD COLUMN IF NOT EXISTS status_calls integer NOT NULL DEFAULT 0;
  CREATE INDEX IF NOT EXISTS payments_pending ON payments (expires_at) WHERE status = 'pending';
  CREATE INDEX IF NOT EXISTS payments_self_paying ON payments (charged_at)
    WHERE paid_at IS NULL AND gross_amount_rupiah IN (${AUTO_PAY_TOTALS});
  CREATE INDEX IF NOT EXISTS payments_newest ON payments (charged_at DESC, order_id);

  CREATE TABLE IF NOT EXISTS refunds (
    chargeback_id integer GENERATED ALWAYS AS IDENTITY,
    order_id      text NOT NULL REFERENCES payments,
    refund_key    text NOT NULL,
    amount_rupiah integer NOT NULL CHECK (amount_rupiah > 0),
    reason        text NOT NULL,
    status        text NOT NULL CHECK (status IN ('requested', 'confirmed', 'rejected')),
    created_at    timestamptz NOT NULL DEFAULT now(),
    confirmed_at  timestamptz,
    PRIMARY KEY (order_id, refund_key)
  );
  CREATE INDEX IF NOT EXISTS refunds_requested ON refunds (created_at) WHERE status = 'requested';

  -- One row. The default delay is long enough that a merchant sees the refund as requested.
  CREATE TABLE IF NOT EXISTS bank (
    is_only_row                   boolean PRIMARY KEY DEFAULT true CHECK (is_only_row),
    refund_confirms_after_seconds double precision NOT NULL DEFAULT 1 CHECK (refund_confirms_after_seconds >= 0)
  );
  INSERT INTO bank DEFAULT VALUES ON CONFLICT DO NOTHING;

  CREATE TABLE IF NOT EXISTS notifications (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    order_id   text NOT NULL REFERENCES payments,
    url        text NOT NULL,
    body       text NOT NULL,
    attempts   integer NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL DEFAULT now(),
    -- When the next attempt is due; null once it was delivered or abandoned.
    due_at     timestamptz DEFAULT now(),
    outcome    text
  );
  -- The merchant's response to the latest attempt, or why there was none.
  ALTER TABLE notifications ADD COLUMN IF NOT EXISTS last_response text;
  CREATE INDEX IF NOT EXISTS notifications_due ON notifications (due_at) WHERE due_at IS NOT NULL;
`;

const DATABASE_MISSING = '3D000';
const DATABASE_EXISTS = new Set(['42P04', '23505']);
const SCHEMA_LOCK = 7_107_717;

/** Opens the ledger at `databaseUrl`; creates the database and its tables where they are missing. */
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
    statement_timeout: 15_000,
    application_name: 'lunas-sandbox',
  });
}

async function createTables(client: Client): Promise<void> {
  await client.query('BEGIN');
  await client.query('SELECT pg_advisory_xact_lock($1)', [SCHEMA_LOCK]);
  await client.query(SCHEMA);
  await client.query('COMMIT');
}

async function createDatabase(databaseUrl: string): Promise<void> {
  const maintenance = new URL(databaseUrl);
  const name = decodeURIComponent(maintenance.pathname.slice(1));
  maintenance.pathname = '/postgres';
  await withClient(maintenance.href, async (client) => {
    await client.query(`CREATE DATABASE ${client.escapeIdentifier(name)}`).catch((error: unknown) => {
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
    await client.query('BEGIN');
    const result = await work(client);
    await client.query('COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {
      broken = true;
    });
    throw error;
  } finally {
    client.release(broken);
  }
}
