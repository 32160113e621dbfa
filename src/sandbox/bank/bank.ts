import { randomInt } from 'node:crypto';
import type { Pool, PoolClient } from 'pg';
import { inTransaction } from '../database';
import { expectOne } from '../ledger-records';
import type { SnapMerchant } from '../snap/merchants';
import type { SnapCase } from '../snap/snap-response';
import { behaviourOf, stepsOf } from './magic-accounts';
import { enqueueTransferNotifications } from './transfer-notifications';
import { TRANSFER_COLUMNS, type Transfer, type TransferStatus } from './transfer-records';

export interface TransferOrder {
  readonly partnerReferenceNo: string;
  readonly amountRupiah: number;
  readonly bankCode: string;
  readonly accountNumber: string;
  readonly holderName: string;
}

export interface BankAccountState {
  readonly balanceRupiah: number;
  readonly forgetsReferences: boolean;
}

export interface BankAccountChange {
  readonly balanceRupiah: number | undefined;
  readonly forgetsReferences: boolean | undefined;
}

/** From which status a transfer can get to another one. */
const SOURCES: Readonly<Record<'completed' | 'failed' | 'returned', readonly TransferStatus[]>> = {
  completed: ['pending', 'failed'],
  failed: ['pending'],
  returned: ['completed'],
};
type EndStatus = keyof typeof SOURCES;

const ACCEPTED: ReadonlySet<TransferStatus> = new Set(['pending', 'completed', 'failed', 'returned']);
const SWEEP_LIMIT = 200;

/**
 * The bank's ledger: our account, the transfers from it, and one row each time money moves. Each change is one
 * transaction: fault tests use the executions as oracle.
 */
export class Bank {
  constructor(private readonly pool: Pool) {}

  /** Accepts a transfer, or rejects it. A reference that was accepted once is rejected, whatever its order. */
  async send(merchant: SnapMerchant, order: TransferOrder): Promise<{ case: SnapCase; transfer: Transfer }> {
    return inTransaction(this.pool, async (client) => {
      const { balanceRupiah, forgetsReferences } = await lockAccount(client);
      const transfer = await recordCall(client, merchant, order);
      if (ACCEPTED.has(transfer.status)) {
        if (!forgetsReferences) return { case: '409 01', transfer };
        // The bank executes the order a second time. The first execution precedes it.
        if (transfer.status === 'pending') await this.#apply(client, transfer, 'completed', 0);
      }
      const { transfer: rejection } = behaviourOf(order.accountNumber);
      if (rejection === 'not_received') return { case: '500 00', transfer };
      const isRejected = rejection && (rejection.onlyFirst !== true || transfer.sendCalls === 1);
      if (isRejected) return { case: rejection.case, transfer: await setStatus(client, transfer, 'rejected') };
      if (balanceRupiah - (await reservedRupiah(client)) < order.amountRupiah) {
        return { case: '403 14', transfer: await setStatus(client, transfer, 'rejected') };
      }
      return { case: '200 00', transfer: await this.#accept(client, transfer, order) };
    });
  }

  /** The transfer of a reference, if the bank has accepted it. Counts the query. */
  async findCounted({ clientId }: SnapMerchant, partnerReferenceNo: string): Promise<Transfer | undefined> {
    const { rows } = await this.pool.query<Transfer>(
      `update transfers set status_calls = status_calls + 1
       where client_id = $1 and partner_reference_no = $2 returning ${TRANSFER_COLUMNS}`,
      [clientId, partnerReferenceNo],
    );
    return rows.find(({ status }) => ACCEPTED.has(status));
  }

  /**
   * A control call: what the bank does with the transfer.
   * @returns null if there is no such transfer
   */
  async control(
    partnerReferenceNo: string,
    to: EndStatus,
    times: number,
  ): Promise<{ changed: boolean; transfer: Transfer } | null> {
    return inTransaction(this.pool, async (client) => {
      await lockAccount(client);
      const { rows } = await client.query<Transfer>(
        `select ${TRANSFER_COLUMNS} from transfers where partner_reference_no = $1
         order by sent_at desc limit 1 for update`,
        [partnerReferenceNo],
      );
      const [transfer] = rows;
      if (!transfer) return null;
      if (!SOURCES[to].includes(transfer.status)) return { changed: false, transfer };
      return { changed: true, transfer: await this.#apply(client, transfer, to, times) };
    });
  }

  /** Applies the steps that are due. */
  async sweep(): Promise<void> {
    const { rows } = await this.pool.query<{ referenceNo: string }>(
      `select reference_no as "referenceNo" from transfers where due_at <= now() order by due_at limit $1`,
      [SWEEP_LIMIT],
    );
    for (const { referenceNo } of rows) await this.#applyDueStep(referenceNo);
  }

  async readAccount(): Promise<BankAccountState> {
    const { rows } = await this.pool.query<BankAccountState>(`select ${ACCOUNT_COLUMNS} from bank_account`);
    return expectOne(rows);
  }

  /** Changes what is given. */
  async setAccount({ balanceRupiah, forgetsReferences }: BankAccountChange): Promise<void> {
    await this.pool.query(
      `update bank_account set balance_rupiah = coalesce($1, balance_rupiah),
         forgets_references = coalesce($2, forgets_references)`,
      [balanceRupiah, forgetsReferences],
    );
  }

  async #accept(client: PoolClient, transfer: Transfer, { amountRupiah, ...order }: TransferOrder): Promise<Transfer> {
    const [first] = stepsOf(order.accountNumber);
    const { rows } = await client.query<Transfer>(
      `update transfers set status = 'pending', amount_rupiah = $2, bank_code = $3, account_number = $4,
         holder_name = $5, next_step = 0, due_at = now() + $6 * interval '1 second'
       where reference_no = $1 returning ${TRANSFER_COLUMNS}`,
      [transfer.referenceNo, amountRupiah, order.bankCode, order.accountNumber, order.holderName, first?.afterSeconds],
    );
    const accepted = expectOne(rows);
    await enqueueTransferNotifications(client, accepted, 1);
    return accepted;
  }

  async #applyDueStep(referenceNo: string): Promise<void> {
    await inTransaction(this.pool, async (client) => {
      const { balanceRupiah } = await lockAccount(client);
      const { rows } = await client.query<Transfer>(
        `select ${TRANSFER_COLUMNS} from transfers where reference_no = $1 and due_at <= now() for update`,
        [referenceNo],
      );
      const [transfer] = rows;
      const step = transfer && stepsOf(transfer.accountNumber)[transfer.nextStep];
      if (!transfer || !step) return;
      const following = stepsOf(transfer.accountNumber)[transfer.nextStep + 1];
      await client.query(
        `update transfers set next_step = next_step + 1, due_at = now() + $2 * interval '1 second'
         where reference_no = $1`,
        [referenceNo, following?.afterSeconds],
      );
      // A control call may have taken the cover, or may have come first.
      const to = step.to === 'completed' && balanceRupiah < transfer.amountRupiah ? 'failed' : step.to;
      if (SOURCES[to].includes(transfer.status)) await this.#apply(client, transfer, to, 1);
    });
  }

  /** Changes the status, moves the money, and enqueues the notifications. */
  async #apply(client: PoolClient, transfer: Transfer, to: EndStatus, times: number): Promise<Transfer> {
    const changed = await setStatus(client, transfer, to);
    if (to !== 'failed') await execute(client, changed, to === 'completed' ? 'out' : 'back');
    await enqueueTransferNotifications(client, changed, times);
    return changed;
  }
}

const ACCOUNT_COLUMNS = `balance_rupiah::float8 as "balanceRupiah", forgets_references as "forgetsReferences"`;

/** The lock of every change: at most one transfer is decided at a time. */
async function lockAccount(client: PoolClient): Promise<BankAccountState> {
  const { rows } = await client.query<BankAccountState>(`select ${ACCOUNT_COLUMNS} from bank_account for update`);
  return expectOne(rows);
}

/** Counts the call, also if the bank rejects it or does not respond. */
async function recordCall(client: PoolClient, { clientId }: SnapMerchant, order: TransferOrder): Promise<Transfer> {
  const { rows } = await client.query<Transfer>(
    `insert into transfers (reference_no, client_id, partner_reference_no, amount_rupiah, bank_code, account_number,
       holder_name)
     values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (client_id, partner_reference_no) do update set send_calls = transfers.send_calls + 1
     returning ${TRANSFER_COLUMNS}`,
    [
      `B${Date.now()}${randomInt(10 ** 6, 10 ** 7)}`,
      clientId,
      order.partnerReferenceNo,
      order.amountRupiah,
      order.bankCode,
      order.accountNumber,
      order.holderName,
    ],
  );
  return expectOne(rows);
}

async function reservedRupiah(client: PoolClient): Promise<number> {
  const { rows } = await client.query<{ rupiah: number }>(
    `select coalesce(sum(amount_rupiah), 0)::float8 as rupiah from transfers where status = 'pending'`,
  );
  return expectOne(rows).rupiah;
}

async function setStatus(client: PoolClient, transfer: Transfer, status: TransferStatus): Promise<Transfer> {
  const { rows } = await client.query<Transfer>(
    `update transfers set status = $2, finished_at = clock_timestamp() where reference_no = $1
     returning ${TRANSFER_COLUMNS}`,
    [transfer.referenceNo, status],
  );
  return expectOne(rows);
}

async function execute(client: PoolClient, transfer: Transfer, direction: 'out' | 'back'): Promise<void> {
  const { clientId, partnerReferenceNo, amountRupiah, accountNumber } = transfer;
  await client.query(
    `insert into transfer_executions (client_id, partner_reference_no, direction, amount_rupiah, account_number)
     values ($1, $2, $3, $4, $5)`,
    [clientId, partnerReferenceNo, direction, amountRupiah, accountNumber],
  );
  await client.query('update bank_account set balance_rupiah = balance_rupiah + $1', [
    direction === 'out' ? -amountRupiah : amountRupiah,
  ]);
}
