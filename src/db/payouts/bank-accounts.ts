import {
  PROPOSAL_STATUSES,
  type BankAccountStatus,
  type BankAccountTransitionName,
} from '../../domain/bank-account-transitions';
import type { NameMatch } from '../../domain/holder-names';
import type { Queryable } from '../connection/pool';
import { literalList } from '../connection/statement';
import { userNameSql } from '../identity/users';

/** A merchant's bank account without its number and its holder. */
export interface BankAccountSummary {
  readonly id: string;
  readonly merchantId: string;
  readonly merchantName: string;
  /** The national code: three digits. */
  readonly bankCode: string;
  readonly lastFour: string;
  readonly nameMatch: NameMatch | null;
  readonly status: BankAccountStatus;
  readonly version: number;
  /** Who: `user:<id>`, or as in the audit log of operators. */
  readonly proposedBy: string;
  /** Null: another actor did. */
  readonly proposerName: string | null;
  /** The second member; null: none has confirmed it. */
  readonly confirmedBy: string | null;
  readonly confirmerName: string | null;
  /** Whether the proposal waits for a second member of the merchant. */
  readonly waitsForMember: boolean;
  readonly inquiredAt: Date | null;
  /** The end of the cool-down; null: it was never approved. */
  readonly usableFrom: Date | null;
  readonly failureReason: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface BankAccountRow extends BankAccountSummary {
  /** Null until the bank reported it, or emptied. */
  readonly sealedHolderName: string | null;
}

const SUMMARY_COLUMNS = `account.id, account.merchant_id as "merchantId", merchant.name as "merchantName",
  account.bank_code as "bankCode", account.last_four as "lastFour",
  account.name_match as "nameMatch", account.status, account.version,
  account.proposed_by as "proposedBy", account.confirmed_by as "confirmedBy",
  ${userNameSql('account.confirmed_by')} as "confirmerName",
  account.status in (${literalList(PROPOSAL_STATUSES)}) and waits_for_member(account.id) as "waitsForMember",
  account.inquired_at as "inquiredAt", account.usable_from as "usableFrom",
  account.failure_reason as "failureReason", account.created_at as "createdAt", account.updated_at as "updatedAt",
  ${userNameSql('account.proposed_by')} as "proposerName"`;
const COLUMNS = `${SUMMARY_COLUMNS}, account.sealed_holder_name as "sealedHolderName"`;
const FROM = 'from bank_accounts account join merchants merchant on merchant.id = account.merchant_id';

/** More than any merchant shows. */
const MAX_LISTED = 50;

/** The newest first: those in use, then the others; at most 50. */
export async function listBankAccountRows(db: Queryable, merchantId: string): Promise<BankAccountRow[]> {
  const { rows } = await db.query<BankAccountRow>({
    name: 'list_bank_accounts',
    text: `select ${COLUMNS} ${FROM} where account.merchant_id = $1
      order by account.created_at desc, account.id desc limit ${MAX_LISTED}`,
    values: [merchantId],
  });
  return rows;
}

/** @param merchantId null: of any merchant, for operators */
export async function findBankAccountRow(
  db: Queryable,
  id: string,
  merchantId: string | null,
): Promise<BankAccountRow | undefined> {
  const { rows } = await db.query<BankAccountRow>({
    name: 'find_bank_account',
    text: `select ${COLUMNS} ${FROM}
      where account.id = $1 and ($2::uuid is null or account.merchant_id = $2)`,
    values: [id, merchantId],
  });
  return rows[0];
}

export interface BankAccountQuery {
  readonly merchantId: string | null;
  /** Only those that wait for the bank or for an operator. */
  readonly onlyWaiting: boolean;
  readonly limit: number;
}

/** The bank accounts of all merchants for operators, without holders; the newest first. */
export async function listAllBankAccounts(
  db: Queryable,
  { merchantId, onlyWaiting, limit }: BankAccountQuery,
): Promise<BankAccountSummary[]> {
  const { rows } = await db.query<BankAccountSummary>(
    `select ${SUMMARY_COLUMNS} ${FROM}
     where ($1::uuid is null or account.merchant_id = $1)
       and (not $2 or account.status in (${literalList(PROPOSAL_STATUSES)}))
     order by account.created_at desc, account.id desc limit $3`,
    [merchantId, onlyWaiting, limit],
  );
  return rows;
}

/** A transition of an account. */
export interface BankAccountStep {
  readonly name: BankAccountTransitionName;
  readonly fromStatus: BankAccountStatus | null;
  readonly toStatus: BankAccountStatus;
  readonly occurredAt: Date;
  readonly actor: string;
  readonly note: string | null;
}

/** Oldest first. */
export async function listBankAccountSteps(db: Queryable, id: string): Promise<BankAccountStep[]> {
  const { rows } = await db.query<BankAccountStep>(
    `select name, from_status as "fromStatus", to_status as "toStatus", occurred_at as "occurredAt", actor, note
     from bank_account_transitions where bank_account_id = $1 order by version`,
    [id],
  );
  return rows;
}

/** Names of the other merchants that had the same account at the inquiry. */
export async function listSameNumberMerchants(db: Queryable, id: string): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>(
    `select merchant.name from bank_accounts account
     join merchants merchant on merchant.id = any (account.same_number_merchants)
     where account.id = $1 order by merchant.name, merchant.id`,
    [id],
  );
  return rows.map(({ name }) => name);
}

/** What the name inquiry needs. Only the worker may read it. */
export interface SealedBankAccount {
  readonly id: string;
  readonly merchantId: string;
  readonly merchantName: string;
  readonly bankCode: string;
  readonly lastFour: string;
  /** Null: emptied. */
  readonly sealedNumber: string | null;
  readonly numberHmac: string;
  readonly status: BankAccountStatus;
  readonly version: number;
}

const SEALED_COLUMNS = `account.id, account.merchant_id as "merchantId", merchant.name as "merchantName",
  account.bank_code as "bankCode", account.last_four as "lastFour", account.sealed_number as "sealedNumber",
  account.number_hmac as "numberHmac", account.status, account.version`;

/** With the name that the bank has reported. */
export type InquiredBankAccount = SealedBankAccount & Pick<BankAccountRow, 'sealedHolderName'>;

/** A bank account with its sealed number. */
export async function findSealedBankAccount(db: Queryable, id: string): Promise<InquiredBankAccount | undefined> {
  const { rows } = await db.query<InquiredBankAccount>({
    name: 'find_sealed_bank_account',
    text: `select ${SEALED_COLUMNS}, account.sealed_holder_name as "sealedHolderName" ${FROM} where account.id = $1`,
    values: [id],
  });
  return rows[0];
}

/** One account in 10,000 has the same end. */
const MAX_SAME_END = 5_000;

/** Accounts of other merchants at the same bank with the same last four digits; the newest first, at most 5,000. */
export async function listSameEnd(
  db: Queryable,
  { bankCode, lastFour, merchantId }: SealedBankAccount,
): Promise<SealedBankAccount[]> {
  const { rows } = await db.query<SealedBankAccount>({
    name: 'list_bank_accounts_of_same_end',
    text: `select ${SEALED_COLUMNS} ${FROM}
      where account.bank_code = $1 and account.last_four = $2 and account.merchant_id <> $3
        and account.sealed_number is not null
      order by account.created_at desc, account.id desc limit ${MAX_SAME_END}`,
    values: [bankCode, lastFour, merchantId],
  });
  return rows;
}

/** An account whose workflow may be lost. */
export interface WaitingInquiry {
  readonly bankAccountId: string;
  readonly merchantId: string;
}

/** Accounts that have waited for their inquiry for half a minute; the oldest first, at most 50. */
export async function listWaitingInquiries(db: Queryable): Promise<WaitingInquiry[]> {
  const { rows } = await db.query<WaitingInquiry>({
    name: 'list_waiting_inquiries',
    text: `select id as "bankAccountId", merchant_id as "merchantId" from bank_accounts
      where status = 'pending_inquiry' and updated_at < now() - interval '30 seconds'
      order by created_at, id limit 50`,
  });
  return rows;
}
