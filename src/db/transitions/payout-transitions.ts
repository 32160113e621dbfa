import type { StepActor } from '../../domain/actor';
import type { BankPayoutStatus, PayoutFailureKind } from '../../domain/bank-payout';
import { DECISIVE_TERMS, type PayoutState } from '../../domain/payout';
import type { PayoutRequestInput } from '../../domain/payout-step';
import {
  isResting,
  PAYOUT_TRANSITIONS,
  type PayoutTransitionName,
  type PayoutTransitionRule,
} from '../../domain/payout-transitions';
import { snakeCase } from '../../lib/snake-case';
import { increment } from '../../observability/metrics';
import type { Queryable } from '../connection/pool';
import { prepareStatement, type PreparedStatement } from '../connection/statement';
import { IS_RECOVERING } from '../operations/recovery-mode';
import { COMMON_PARAMETERS, executeTransition, isRecorded, type TransitionContext } from './apply-transition';
import { isOlderThanRecovery, OBSTACLE, obstacleJoins } from './payout-conditions';
import { SUBJECT_TABLES } from './subjects';
import { closeNotificationsSql, compareAndSetSql, transitionStatement, type TransitionSubject } from './transition-sql';

/** A transition of one payout, as its workflow requests it. */
export interface PayoutTransitionInput {
  readonly payoutId: string;
  /** The version that it starts from. */
  readonly version: number;
  /** By the workflow's clock. */
  readonly at: Date;
  /** The member or operator who requested it; absent if the workflow decided it. */
  readonly by?: StepActor;
}

/**
 * `applied`: written now · `repeated`: an earlier attempt had written the same transition · `superseded`: the payout is
 * at another version or status, which `state` contains · `deferred`: something keeps a call or a cancellation back.
 */
export interface PayoutTransitionResult {
  readonly outcome: 'applied' | 'repeated' | 'superseded' | 'deferred';
  readonly state: PayoutState;
}

/** Inputs that only some transitions have; each is a parameter of their statements. */
export interface PayoutTransitionDetails {
  /** The bank's id of the payout; null if it gave none. */
  readonly bankReference: string | null;
  readonly failureKind: PayoutFailureKind;
  readonly reason: string;
  /** Whether the attempt calls the bank. If not, only queries follow, and nothing keeps it back. */
  readonly makesCall: boolean;
}

interface PayoutStateRow extends Omit<PayoutState, 'lastSentAtMs'> {
  readonly lastSentAt: Date | null;
}

function stateOf({ status, version, lastSentAt }: PayoutStateRow): PayoutState {
  return { status, version, ...(lastSentAt && { lastSentAtMs: lastSentAt.getTime() }) };
}

const STATE_COLUMNS = ' changed.last_sent_at as "lastSentAt",';

const PAYOUT: TransitionSubject = { ...SUBJECT_TABLES.payout, eventBody };

function eventBody(event: string): string {
  return `
    select changed.id, '${event}' as event, changed.reference_id, changed.status,
      :environment::text as environment, changed.gross_rupiah as gross_amount, changed.fee_rupiah as fee_amount,
      changed.amount_rupiah as amount, 'IDR' as currency, changed.rail, account.bank_code,
      account.last_four as account_last_four, changed.failure_reason, iso_utc(changed.requested_at) as created_at,
      iso_utc(changed.updated_at) as updated_at
    from bank_accounts account where account.id = changed.bank_account_id`;
}

/** A payout of more lines would hold locks for too long. The next payout pays the others. */
export const MAX_PAYOUT_LINES = 10_000;

/** A payout as it is requested. Who approves it is determined in the statement. */
export interface NewPayout extends PayoutRequestInput {
  /** The terms, sealed for the comparison before each call to the bank. */
  readonly sealedTerms: string;
  readonly at: Date;
}

/** The terms in the row of a payout. The columns have the same names, in snake case. */
const CAPTURED_TERMS = [
  ...DECISIVE_TERMS,
  'rail',
  'payoutPolicyId',
  'upToPostingId',
] as const satisfies readonly (keyof NewPayout)[];

/**
 * Who approves: an operator above the limit of the day, else another member if there is one who may. An operator too if
 * there are others, and none of them counts as a second person.
 */
const APPROVAL_KIND = `case
      when :actor like 'operator:%' or :actor like 'cli:%' then 'operator'
      when :grossRupiah::bigint + (
        select coalesce(sum(before.gross_rupiah), 0) from payouts before
        where before.merchant_id = :merchantId and before.requested_at > :at::timestamptz - interval '25 hours'
          and booking_day(before.requested_at) = booking_day(:at::timestamptz)
          and before.status not in ('cancelled', 'failed')
      ) > (select day_limit_rupiah from payout_limits order by id desc limit 1) then 'operator'
      when :actor = 'schedule' then 'none'
      else required_approval(:merchantId, :actor)
    end`;

/**
 * Locks a run of unclaimed lines. A request that waits for another one finds them claimed, so its sum is another one,
 * and it inserts nothing.
 */
const CLAIMABLE_LINES = `locked as materialized (
  select posting_id, amount_rupiah from balance_transactions
  where merchant_id = :merchantId and payout_id is null
    and posting_id > :afterPostingId::bigint and posting_id <= :upToPostingId::bigint
  order by posting_id limit ${MAX_PAYOUT_LINES} for update
)`;

const CLAIMED = `
claimed as (
  update balance_transactions line set payout_id = changed.id
  from changed, locked where line.posting_id = locked.posting_id and line.payout_id is null
),`;

interface InsertedColumns {
  readonly lineCount: string;
  readonly isRebuilt: boolean;
  readonly approvalKind: string;
}

/** Inserts the row of a payout, if there is none and if the condition is true. */
function insertedSql({ lineCount, isRebuilt, approvalKind }: InsertedColumns, condition = ''): string {
  return `changed as (
  insert into payouts (id, ${CAPTURED_TERMS.map(snakeCase).join(', ')},
    sealed_terms, requested_by, line_count, is_rebuilt, approval_kind, requested_at, updated_at, status, version)
  select :payoutId, ${CAPTURED_TERMS.map((term) => `:${term}`).join(', ')},
    :sealedTerms, :actor, ${lineCount}, ${isRebuilt}, ${approvalKind},
    :at, :at, 'requested', 1${condition}
  on conflict (id) do nothing
  returning *
)`;
}

/** What was shown: the policy, the fee and the sum of the lines, if it has any. The balance may have less than that. */
const INSERTED = insertedSql(
  { lineCount: '(select count(*) from locked)', isRebuilt: false, approvalKind: APPROVAL_KIND },
  `
  from merchants merchant${obstacleJoins({
    account: 'account.id = :bankAccountId and account.merchant_id = merchant.id',
    source: 'source.id = :providerAccountId',
  })}
    join payout_policies policy on policy.id = :payoutPolicyId and policy.is_enabled
  where merchant.id = :merchantId and ${OBSTACLE} is null
    and policy.rail = :rail and policy.fee_rupiah = :feeRupiah::bigint
    and :amountRupiah::bigint between policy.min_rupiah and coalesce(policy.max_rupiah, :amountRupiah::bigint)
    and not exists (
      select from payout_policies newer where newer.rail = policy.rail and newer.version > policy.version)
    and (:upToPostingId::bigint = 0 or (select sum(amount_rupiah) from locked) = :grossRupiah::bigint)
    and :grossRupiah::bigint <= available_balance(:merchantId)`,
);

const INSERT_PARAMETERS = [...COMMON_PARAMETERS, 'payoutId', 'at', ...CAPTURED_TERMS, 'sealedTerms'] as const;

const REQUEST = prepareStatement(
  'payout_request',
  [...INSERT_PARAMETERS, 'afterPostingId'],
  transitionStatement(
    PAYOUT,
    { name: 'request', rule: PAYOUT_TRANSITIONS.request },
    {
      change: `${CLAIMABLE_LINES},\n${INSERTED}`,
      effects: CLAIMED,
      columns: STATE_COLUMNS,
    },
  ),
);

/**
 * Claims the lines of a balance and writes the payout as `requested`. The payout may exist already: `repeated`.
 * @returns undefined if something keeps the payout back, or if the balance is not what the request expects
 */
async function request(
  context: TransitionContext,
  { by, ...payout }: NewPayout,
): Promise<PayoutTransitionResult | undefined> {
  const written = await execute(context, { name: 'request', statement: REQUEST }, payout, by);
  if (written) return { outcome: 'applied', state: written };
  const state = await findPayoutState(context.db, payout.payoutId);
  return state && { outcome: 'repeated', state };
}

/** Without lines: they may be lost too, and come back later. So its own line stays a part of the balance. */
const REBUILD = prepareStatement(
  'payout_rebuild',
  INSERT_PARAMETERS,
  transitionStatement(
    PAYOUT,
    { name: 'request', rule: PAYOUT_TRANSITIONS.request },
    { change: insertedSql({ lineCount: '0', isRebuilt: true, approvalKind: "'none'" }), columns: STATE_COLUMNS },
  ),
);

/**
 * Writes a payout that PostgreSQL has lost again, as submitted. The bank may have it, so only queries follow. A row
 * that was not lost stays as it is.
 */
export async function rebuildPayout(context: TransitionContext, { by, ...payout }: NewPayout): Promise<void> {
  const { payoutId, at } = payout;
  const note = 'written again by a recovery';
  await execute(context, { name: 'request', statement: REBUILD }, payout, { ...by, note });
  const rebuilt = await context.db.query('select from payouts where id = $1 and is_rebuilt', [payoutId]);
  if (rebuilt.rowCount === 0) return;
  const step = { payoutId, at, by: { name: 'workflow', note } } as const;
  await payoutWriters.approve(context, { ...step, version: 1 });
  await payoutWriters.submit(context, { ...step, version: 2, makesCall: false });
}

interface NamedStatement<Parameter extends string> {
  readonly name: PayoutTransitionName;
  readonly statement: PreparedStatement<(typeof COMMON_PARAMETERS)[number] | 'payoutId' | Parameter>;
}

/** The state that the statement wrote; undefined if it changed nothing. */
async function execute<Parameter extends string>(
  context: TransitionContext,
  { name, statement }: NamedStatement<Parameter>,
  values: Readonly<Record<Parameter, unknown>> & { readonly payoutId: string },
  by?: StepActor,
): Promise<PayoutState | undefined> {
  const subject = { kind: 'payout', id: values.payoutId } as const;
  const transition = { subject, name, from: PAYOUT_TRANSITIONS[name].from, statement };
  const row = await executeTransition<PayoutStateRow, 'payoutId' | Parameter>(context, transition, values, by);
  if (!row) return undefined;
  increment('lunas_payout_transitions_total', { transition: name });
  return stateOf(row);
}

/** What a transition writes beyond what its row of `PAYOUT_TRANSITIONS` implies. */
interface PayoutTransitionSql {
  readonly payout?: readonly string[];
  /** What the change reads before, with the condition that it has to fulfil. */
  readonly precondition?: { readonly cte?: string; readonly condition: string };
}

/** The bank's reports that a payout in a status reflects: their notifications need no query. */
const REFLECTED: Readonly<Partial<Record<string, readonly BankPayoutStatus[]>>> = {
  completed: ['pending', 'completed'],
  failed: ['pending', 'failed'],
  returned: ['pending', 'completed', 'failed', 'returned'],
};

function effectsOf({ to, from }: PayoutTransitionRule): string {
  const reported = REFLECTED[to];
  return from !== to && reported ? closeNotificationsSql(reported) : '';
}

function updateStatement(name: PayoutTransitionName, { payout = [], precondition }: PayoutTransitionSql): string {
  const rule: PayoutTransitionRule = PAYOUT_TRANSITIONS[name];
  const assignments = isResting(rule.to) ? ['finished_at = :at', ...payout] : payout;
  const change = compareAndSetSql(PAYOUT, rule, assignments, precondition?.condition);
  return transitionStatement(
    PAYOUT,
    { name, rule },
    {
      change: precondition?.cte === undefined ? change : `${precondition.cte},\n${change}`,
      effects: effectsOf(rule),
      columns: STATE_COLUMNS,
    },
  );
}

/** The writer of a transition from one status to another, which takes these details as its input. */
function transition<const Detail extends keyof PayoutTransitionDetails = never>(
  name: Exclude<PayoutTransitionName, 'request'>,
  details: readonly Detail[],
  sql: PayoutTransitionSql = {},
) {
  const statement = prepareStatement(
    `payout_${name}`,
    [...COMMON_PARAMETERS, 'payoutId', 'version', 'at', ...details],
    updateStatement(name, sql),
  );
  async function write(
    context: TransitionContext,
    { by, ...input }: PayoutTransitionInput & Pick<PayoutTransitionDetails, Detail>,
  ): Promise<PayoutTransitionResult> {
    const state = await execute(context, { name, statement }, input, by);
    return state ? { outcome: 'applied', state } : resolveConflict(context.db, name, input);
  }
  return Object.assign(write, { statement });
}

/** Why the compare-and-set changed nothing. */
async function resolveConflict(
  db: Queryable,
  name: PayoutTransitionName,
  { payoutId: id, version }: PayoutTransitionInput,
): Promise<PayoutTransitionResult> {
  const wasRecorded = await isRecorded(db, SUBJECT_TABLES.payout, { id, version, name });
  const state = await readPayoutState(db, id);
  if (wasRecorded) return { outcome: 'repeated', state };
  const isUnchanged = state.version === version && state.status === PAYOUT_TRANSITIONS[name].from;
  return { outcome: isUnchanged ? 'deferred' : 'superseded', state };
}

/**
 * Locks the bank account, so that of a permission and a concurrent suspension or replacement exactly one wins. The
 * conditions are compared again here: they may have changed since the request. After a restore no call is made for a
 * payout that was requested before: its money may have left by another payout.
 */
const SUBMITTABLE = {
  cte: `submittable as materialized (
  select account.id from payouts payout
    join merchants merchant on merchant.id = payout.merchant_id
    join bank_accounts account on account.id = payout.bank_account_id
    left join provider_accounts source on source.id = payout.provider_account_id and source.status = 'enabled'
  where payout.id = :payoutId and ${OBSTACLE} is null
  for share of account
)`,
  condition: `exists (select from submittable) and not ${isOlderThanRecovery(':payoutId')}`,
} as const;

/** The bank may have a payout that PostgreSQL has lost the submission of: its money is not released. */
const NOT_RESTORED = { condition: `not ${IS_RECOVERING} and not ${isOlderThanRecovery(':payoutId')}` } as const;

/** The bank has all the time that it may need from the call on, however late the permission for it is recorded. */
const NOW = 'greatest(:at::timestamptz, now())';

export const BANK_REFERENCE = 'bank_reference = coalesce(:bankReference, bank_reference)';
export const FAILED = ['failure_kind = :failureKind', 'failure_reason = :reason'] as const;
const NO_FAILURE = ['failure_kind = null', 'failure_reason = null'] as const;
const BY_HAND = 'is_manual = true';

/** All that changes a payout, by transition. Each call is one statement. */
export const payoutWriters = {
  request: Object.assign(request, { statement: REQUEST }),
  approve: transition('approve', [], { payout: ['approved_by = :actor'] }),
  cancel_request: transition('cancel_request', [], { precondition: NOT_RESTORED }),
  cancel: transition('cancel', [], { precondition: NOT_RESTORED }),
  /** Written before the call to the bank. Only the attempt that applied it may call. */
  submit: transition('submit', ['makesCall'], {
    payout: ['send_count = 1', `submitted_at = ${NOW}`, `last_sent_at = ${NOW}`],
    precondition: {
      cte: SUBMITTABLE.cte,
      condition: `(not :makesCall::boolean
      or ${SUBMITTABLE.condition})`,
    },
  }),
  /** Permission for one more call, with the same reference. */
  resend: transition('resend', [], {
    payout: ['send_count = send_count + 1', 'send_outcome = null', `last_sent_at = ${NOW}`, ...NO_FAILURE],
    precondition: SUBMITTABLE,
  }),
  complete: transition('complete', ['bankReference'], { payout: [BANK_REFERENCE, ...NO_FAILURE] }),
  fail: transition('fail', ['failureKind', 'reason'], { payout: FAILED }),
  resolve_as_completed: transition('resolve_as_completed', [], { payout: [BY_HAND, ...NO_FAILURE] }),
  resolve_as_failed: transition('resolve_as_failed', ['failureKind', 'reason'], { payout: [BY_HAND, ...FAILED] }),
  return: transition('return', []),
  resolve_as_returned: transition('resolve_as_returned', [], { payout: [BY_HAND] }),
  /** The bank executed it after it had reported it as failed. */
  complete_failed: transition('complete_failed', ['bankReference'], { payout: [BANK_REFERENCE, ...NO_FAILURE] }),
  resolve_failed_as_completed: transition('resolve_failed_as_completed', [], { payout: [BY_HAND, ...NO_FAILURE] }),
} as const satisfies Record<PayoutTransitionName, { readonly statement: object }>;

export async function findPayoutState(db: Queryable, payoutId: string): Promise<PayoutState | undefined> {
  const { rows } = await db.query<PayoutStateRow>({
    name: 'find_payout_state',
    text: 'select status, version, last_sent_at as "lastSentAt" from payouts where id = $1',
    values: [payoutId],
  });
  return rows[0] && stateOf(rows[0]);
}

/** The payout's current state in PostgreSQL. */
export async function readPayoutState(db: Queryable, payoutId: string): Promise<PayoutState> {
  const state = await findPayoutState(db, payoutId);
  if (!state) throw new Error(`Payout ${payoutId} is not in the database`);
  return state;
}
