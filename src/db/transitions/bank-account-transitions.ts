import type { ActorText } from '../../domain/actor';
import {
  BANK_ACCOUNT_TRANSITIONS,
  type BankAccountStatus,
  type BankAccountTransitionName,
} from '../../domain/bank-account-transitions';
import type { NameMatch } from '../../domain/holder-names';
import type { Queryable } from '../connection/pool';
import { bindStatement, literalList, prepareStatement } from '../connection/statement';

/** The account to change. It is found only with this merchant, and only in this version; null: in any. */
export interface BankAccountTransitionInput {
  readonly id: string;
  readonly merchantId: string | null;
  readonly version: number | null;
  readonly at: Date;
  readonly actor: ActorText;
  readonly note?: string | undefined;
}

/** The account after its transition. */
export interface ChangedBankAccount {
  readonly status: BankAccountStatus;
  readonly version: number;
  /** The account that ended because of it; null: none. */
  readonly replacedId: string | null;
}

interface TransitionSql {
  /** What it writes besides the status. */
  readonly assignments?: readonly string[];
  /** What has to be true besides the status. */
  readonly condition?: string;
  /** The part of the statement that ends another account first. */
  readonly replaced?: string;
}

const COMMON = ['id', 'merchantId', 'version', 'at', 'actor', 'note'] as const;

/** The time of a change of an account: it always increases. */
const UPDATED_AT = "greatest(:at::timestamptz, account.updated_at + interval '1 millisecond')";

/**
 * One statement locks the account, compares its status, its version and its merchant, and writes the account and the
 * history. It changes nothing if they differ.
 */
function changeSql(
  name: BankAccountTransitionName,
  { assignments = [], condition = 'true', replaced = '' }: TransitionSql = {},
): string {
  const { from, to } = BANK_ACCOUNT_TRANSITIONS[name];
  const written = [`status = '${to}'`, 'version = account.version + 1', `updated_at = ${UPDATED_AT}`, ...assignments];
  const after = replaced === '' ? '' : ' and (select count(*) from replaced) >= 0';
  return `
with locked as materialized (
  select id, merchant_id, status from bank_accounts
  where id = :id and status in (${literalList(from)})
    and (:merchantId::uuid is null or merchant_id = :merchantId) and (:version::integer is null or version = :version)
    and ${condition}
  for update
),${replaced}
changed as (
  update bank_accounts account set ${written.join(', ')}
  from locked where account.id = locked.id${after}
  returning account.id, account.merchant_id, account.version, account.status, account.updated_at,
    locked.status as from_status
),
${historySql('history', name, 'changed')}
select status, version, ${replaced === '' ? 'null::uuid' : '(select id from replaced)'} as "replacedId" from changed`;
}

function historySql(cte: string, name: BankAccountTransitionName, from: string): string {
  return `${cte} as (
  insert into bank_account_transitions
    (bank_account_id, version, name, from_status, to_status, occurred_at, actor, note)
  select id, version, '${name}', from_status, status, updated_at, :actor, :note from ${from}
)`;
}

/**
 * The account in use ends before the new one begins: a unique index permits one of both. It is locked first,
 * because the history needs its status after any transition that commits meanwhile.
 */
const REPLACED = `
before as materialized (
  select account.id, account.status from bank_accounts account, locked
  where account.merchant_id = locked.merchant_id
    and account.status in (${literalList(BANK_ACCOUNT_TRANSITIONS.replace.from)})
  for update of account
),
replaced as (
  update bank_accounts account set status = 'replaced', version = account.version + 1, updated_at = ${UPDATED_AT}
  from before where account.id = before.id
  returning account.id, account.merchant_id, account.version, account.status, account.updated_at,
    before.status as from_status
),
${historySql('replaced_history', 'replace', 'replaced')},`;

/** The cool-down counts from the transition. */
const IN_USE = [
  `usable_from = ${UPDATED_AT}
    + (select cooldown_seconds from payout_limits order by id desc limit 1) * interval '1 second'`,
  'failure_reason = null',
] as const;

const HOLDER = [
  'sealed_holder_name = :sealedHolderName',
  'name_match = :nameMatch',
  'same_number_merchants = :sameNumberMerchants',
  'inquired_at = :at',
] as const;

/** A parameter cannot be absent. */
function withNote<Values extends { readonly note?: string | undefined }>(values: Values) {
  return { ...values, note: values.note ?? null };
}

/** @returns undefined if the statement changed nothing */
async function execute(
  db: Queryable,
  statement: ReturnType<typeof bindStatement>,
): Promise<ChangedBankAccount | undefined> {
  const { rows } = await db.query<ChangedBankAccount>(statement);
  return rows[0];
}

const ADD = prepareStatement(
  'add_bank_account',
  ['id', 'merchantId', 'bankCode', 'sealedNumber', 'numberHmac', 'lastFour', 'at', 'actor', 'note'],
  `
with created as (
  insert into bank_accounts
    (id, merchant_id, bank_code, sealed_number, number_hmac, last_four, status, version, proposed_by, created_at,
      updated_at)
  values (:id, :merchantId, :bankCode, :sealedNumber, :numberHmac, :lastFour, 'pending_inquiry', 1, :actor, :at, :at)
  on conflict do nothing
  returning id, merchant_id, version, status, updated_at, null as from_status
),
${historySql('history', 'add', 'created')}
select status, version, null::uuid as "replacedId" from created`,
);

export interface NewBankAccount {
  readonly id: string;
  readonly merchantId: string;
  readonly bankCode: string;
  readonly sealedNumber: string;
  /** The keyed hash of the number, for good. */
  readonly numberHmac: string;
  readonly lastFour: string;
  readonly at: Date;
  readonly actor: ActorText;
  readonly note?: string | undefined;
}

/** Undefined if the id is used, or if the merchant has another proposal. */
export function insertBankAccount(db: Queryable, account: NewBankAccount): Promise<ChangedBankAccount | undefined> {
  return execute(db, bindStatement(ADD, withNote(account)));
}

/** What the bank reports about the holder. */
export interface InquiredHolder {
  readonly sealedHolderName: string;
  readonly nameMatch: NameMatch;
  /** Ids of other merchants with the same account. */
  readonly sameNumberMerchants: readonly string[];
}

const HOLDER_PARAMETERS = ['sealedHolderName', 'nameMatch', 'sameNumberMerchants'] as const;

const VERIFY = prepareStatement(
  'verify_bank_account',
  [...COMMON, ...HOLDER_PARAMETERS],
  changeSql('verify', { assignments: HOLDER }),
);

/** The bank knows the account. Undefined if it does not wait for the inquiry any more. */
export function verifyBankAccount(
  db: Queryable,
  change: BankAccountTransitionInput,
  holder: InquiredHolder,
): Promise<ChangedBankAccount | undefined> {
  return execute(db, bindStatement(VERIFY, withNote({ ...change, ...holder })));
}

/** Two operators approve what both have seen: another result of the bank is another version of a proposal. */
const versionUnless = (isSame: string) =>
  `version = version + case when status <> 'pending_approval' or ${isSame} then 0 else 1 end`;

const IS_SAME_HOLDER = `(inquired_at is not null and sealed_holder_name = :sealedHolderName
    and name_match = :nameMatch and same_number_merchants = :sameNumberMerchants)`;

const RECORD_HOLDER = prepareStatement(
  'record_bank_account_holder',
  ['id', 'at', ...HOLDER_PARAMETERS],
  `update bank_accounts set ${HOLDER.join(', ')}, failure_reason = null, ${versionUnless(IS_SAME_HOLDER)}
   where id = :id and status in ('pending_approval', 'active', 'suspended')`,
);

/**
 * A later inquiry of an account: no transition.
 * @param holder with the sealed text of before, if the name is the same
 */
export async function recordHolder(db: Queryable, id: string, at: Date, holder: InquiredHolder): Promise<void> {
  await db.query(bindStatement(RECORD_HOLDER, { id, at, ...holder }));
}

const RECORD_FAILED_INQUIRY = prepareStatement(
  'record_failed_bank_account_inquiry',
  ['id', 'reason'],
  `update bank_accounts set inquired_at = null, failure_reason = :reason, ${versionUnless('inquired_at is null')}
   where id = :id and status in ('pending_approval', 'active', 'suspended')`,
);

/** The bank does not know the account any more: without an inquiry it cannot be reactivated. */
export async function recordFailedInquiry(db: Queryable, id: string, reason: string): Promise<void> {
  await db.query(bindStatement(RECORD_FAILED_INQUIRY, { id, reason }));
}

/** A transition whose reason the merchant sees. */
function stopStatement(statement: string, name: BankAccountTransitionName) {
  return prepareStatement(
    statement,
    [...COMMON, 'reason'],
    changeSql(name, { assignments: ['failure_reason = :reason'] }),
  );
}

const WITH_REASON = {
  fail_inquiry: stopStatement('fail_bank_account_inquiry', 'fail_inquiry'),
  suspend: stopStatement('suspend_bank_account', 'suspend'),
  reject: stopStatement('reject_bank_account', 'reject'),
} as const;

/** Ends or stops an account for a reason that its merchant sees. Undefined if the account is elsewhere. */
export function stopBankAccount(
  db: Queryable,
  name: keyof typeof WITH_REASON,
  change: BankAccountTransitionInput,
  reason: string,
): Promise<ChangedBankAccount | undefined> {
  return execute(db, bindStatement(WITH_REASON[name], withNote({ ...change, reason })));
}

/** An inquiry of the last day: without one, an account that was suspended cannot receive money again. */
const IS_INQUIRED = "inquired_at > :at::timestamptz - interval '24 hours'";

const PLAIN = {
  withdraw: prepareStatement('withdraw_bank_account', COMMON, changeSql('withdraw')),
  disable: prepareStatement('disable_bank_account', COMMON, changeSql('disable')),
  confirm: prepareStatement(
    'confirm_bank_account',
    COMMON,
    changeSql('confirm', { assignments: ['confirmed_by = :actor'], condition: 'confirmed_by is null' }),
  ),
  approve: prepareStatement(
    'approve_bank_account',
    COMMON,
    changeSql('approve', { assignments: IN_USE, replaced: REPLACED }),
  ),
  reactivate: prepareStatement(
    'reactivate_bank_account',
    COMMON,
    changeSql('reactivate', { assignments: IN_USE, condition: IS_INQUIRED }),
  ),
} as const;

/** Undefined if the account is elsewhere. */
export function changeBankAccount(
  db: Queryable,
  name: keyof typeof PLAIN,
  change: BankAccountTransitionInput,
): Promise<ChangedBankAccount | undefined> {
  return execute(db, bindStatement(PLAIN[name], withNote(change)));
}
