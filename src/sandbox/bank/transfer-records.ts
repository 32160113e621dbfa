import type { Pool } from 'pg';

export const BANK_TABLES = `
  -- One row: our account at the bank.
  create table if not exists bank_account (
    is_only_row        boolean primary key default true check (is_only_row),
    balance_rupiah     bigint not null default 10000000000 check (balance_rupiah >= 0),
    forgets_references boolean not null default false
  );
  insert into bank_account default values on conflict do nothing;

  -- One row per reference, also if the bank rejected it, or does as if it had not received it.
  create table if not exists transfers (
    reference_no         text primary key,
    client_id            text not null references snap_merchants,
    partner_reference_no text not null,
    amount_rupiah        bigint not null check (amount_rupiah > 0),
    bank_code            text not null,
    account_number       text not null,
    holder_name          text not null,
    status               text not null default 'not_received'
      check (status in ('not_received', 'rejected', 'pending', 'completed', 'failed', 'returned')),
    send_calls           integer not null default 1,
    status_calls         integer not null default 0,
    next_step            integer not null default 0,
    -- of the next step; null if only a control call changes the transfer
    due_at               timestamptz,
    sent_at              timestamptz not null default now(),
    finished_at          timestamptz,
    unique (client_id, partner_reference_no)
  );
  create index if not exists transfers_due on transfers (due_at) where due_at is not null;
  create index if not exists transfers_pending on transfers (amount_rupiah) where status = 'pending';

  -- One row each time money moves. The oracle of the tests: no row is changed or deleted.
  create table if not exists transfer_executions (
    id                   bigint generated always as identity primary key,
    client_id            text not null,
    partner_reference_no text not null,
    direction            text not null check (direction in ('out', 'back')),
    amount_rupiah        bigint not null check (amount_rupiah > 0),
    account_number       text not null,
    executed_at          timestamptz not null default clock_timestamp()
  );
  create index if not exists transfer_executions_reference on transfer_executions (partner_reference_no);
  create or replace function reject_change() returns trigger language plpgsql as
    $$ begin raise exception '% is append-only', tg_table_name; end $$;
  create or replace trigger transfer_executions_append_only before update or delete or truncate
    on transfer_executions for each statement execute function reject_change();

  create table if not exists transfer_notifications (
    id            bigint generated always as identity primary key,
    reference_no  text not null references transfers,
    url           text not null,
    headers       json not null,
    body          text not null,
    attempts      integer not null default 0,
    created_at    timestamptz not null default now(),
    -- of the next attempt; null if delivered or abandoned
    due_at        timestamptz default now(),
    outcome       text,
    last_response text
  );
  create index if not exists transfer_notifications_due on transfer_notifications (due_at) where due_at is not null;
`;

/** `not_received`: the bank does not know it. `rejected`: it knows it no more. */
export type TransferStatus = 'not_received' | 'rejected' | 'pending' | 'completed' | 'failed' | 'returned';

export interface Transfer {
  /** The bank's number. */
  readonly referenceNo: string;
  readonly clientId: string;
  readonly partnerReferenceNo: string;
  readonly amountRupiah: number;
  readonly bankCode: string;
  readonly accountNumber: string;
  readonly holderName: string;
  readonly status: TransferStatus;
  /** Calls of service 18 that reached the bank. */
  readonly sendCalls: number;
  /** Calls of service 36 that reached the bank. */
  readonly statusCalls: number;
  readonly nextStep: number;
  readonly sentAt: Date;
  readonly finishedAt: Date | null;
}

export const TRANSFER_COLUMNS = `
  reference_no as "referenceNo", client_id as "clientId", partner_reference_no as "partnerReferenceNo",
  amount_rupiah::float8 as "amountRupiah", bank_code as "bankCode", account_number as "accountNumber",
  holder_name as "holderName", status, send_calls as "sendCalls", status_calls as "statusCalls",
  next_step as "nextStep", sent_at as "sentAt", finished_at as "finishedAt"`;

export interface Execution {
  readonly clientId: string;
  readonly partnerReferenceNo: string;
  readonly direction: 'out' | 'back';
  readonly amountRupiah: number;
  readonly accountNumber: string;
  readonly executedAt: Date;
}

/** Newest first. */
export async function listTransfers(pool: Pool, limit: number | null = null): Promise<Transfer[]> {
  const { rows } = await pool.query<Transfer>(
    `select ${TRANSFER_COLUMNS} from transfers order by sent_at desc, reference_no limit $1`,
    [limit],
  );
  return rows;
}

/** All executions in their order. */
export async function listExecutions(pool: Pool): Promise<Execution[]> {
  const { rows } = await pool.query<Execution>(
    `select client_id as "clientId", partner_reference_no as "partnerReferenceNo", direction,
       amount_rupiah::float8 as "amountRupiah", account_number as "accountNumber", executed_at as "executedAt"
     from transfer_executions order by id`,
  );
  return rows;
}
