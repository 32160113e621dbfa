import type { Queryable } from '../../db/connection/pool';
import { requireRow } from '../../db/connection/require-row';
import type { OperatorActor } from '../../domain/actor';
import { DeclaredAction } from '../../domain/declared-action';
import type { Rail } from '../../domain/payout-rails';
import { ConflictError } from '../../errors';
import { withAudit, type AuditDependencies } from '../audit/audit';
import { requireApproval } from '../audit/request-approval';
import { NEWER_POLICY } from '../provider-accounts/catalog';
import { payoutPolicySchema, type PayoutPolicyVersion } from './payout-rules';

type PolicyTerms = Omit<PayoutPolicyVersion, 'rail' | 'version'>;

/** Absent terms are copied from the version in force. */
export type PayoutPolicyChange = { readonly rail: Rail } & {
  readonly [Term in keyof PolicyTerms]?: PolicyTerms[Term] | undefined;
};

/** The version in force of each rail. */
export async function listPayoutPolicies(db: Queryable): Promise<PayoutPolicyVersion[]> {
  const { rows } = await db.query<PayoutPolicyVersion>(
    `select distinct on (rail) rail, version, fee_rupiah, min_rupiah, max_rupiah, opens_at, closes_at, days,
       expected_within_seconds, is_enabled
     from payout_policies order by rail, version desc`,
  );
  return rows;
}

export const SET_PAYOUT_POLICY = new DeclaredAction('payout.set_policy');

/**
 * Requests the next version of a rail's policy in production, and writes it immediately in a sandbox. Payouts keep the
 * version that they have captured.
 * @throws ConflictError `approval_required` with the id of the request; `not_allowed` if the values contradict
 */
export async function setPayoutPolicy(
  dependencies: AuditDependencies,
  actor: OperatorActor,
  { rail, ...change }: PayoutPolicyChange,
  note?: string,
): Promise<PayoutPolicyVersion> {
  const { db } = dependencies;
  const found = (await listPayoutPolicies(db)).filter((policy) => policy.rail === rail);
  const before = requireRow(found, 'policy', rail);
  const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
  const policy = payoutPolicySchema.parse({ ...before, ...given, version: before.version + 1 });
  requireOrder(policy);
  const request = { action: 'payout.set_policy', target: rail, parameters: policy } as const;
  await requireApproval(dependencies, actor, request, note);
  const detail = JSON.stringify(policy);
  await withAudit(dependencies, actor, { action: SET_PAYOUT_POLICY, target: rail, note, detail }, () =>
    writePayoutPolicy(db, policy),
  );
  return policy;
}

function requireOrder({ min_rupiah: min, max_rupiah: max, opens_at: opensAt, closes_at: closesAt }: PolicyTerms): void {
  if (max !== null && max < min) throw new ConflictError('not_allowed', 'The greatest amount is below the least one.');
  if (closesAt <= opensAt) throw new ConflictError('not_allowed', 'The window closes before it opens.');
}

/** @throws ConflictError `superseded` if there is a newer version than the one before */
export async function writePayoutPolicy(db: Queryable, policy: PayoutPolicyVersion): Promise<void> {
  const { rowCount } = await db.query(
    `insert into payout_policies (rail, version, fee_rupiah, min_rupiah, max_rupiah, opens_at, closes_at, days,
       expected_within_seconds, is_enabled)
     select rail, version, fee_rupiah, min_rupiah, max_rupiah, opens_at, closes_at, days, expected_within_seconds,
       is_enabled
     from jsonb_populate_record(null::payout_policies, $1)
     on conflict (rail, version) do nothing`,
    [JSON.stringify(policy)],
  );
  if (rowCount === 1) return;
  throw new ConflictError('superseded', NEWER_POLICY);
}

/** Days from now on, besides Saturdays and Sundays, on which banks do not work: `YYYY-MM-DD`. */
export async function listBankHolidays(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<{ day: string }>(
    'select day::text from bank_holidays where day >= booking_day(now()) order by day',
  );
  return rows.map(({ day }) => day);
}

export const ADD_BANK_HOLIDAYS = new DeclaredAction('bank_holiday.add');

/** Known days are kept. */
export async function addBankHolidays(
  dependencies: AuditDependencies,
  actor: OperatorActor,
  days: readonly string[],
  note?: string,
): Promise<void> {
  const action = { action: ADD_BANK_HOLIDAYS, target: days.join(', '), note };
  await withAudit(dependencies, actor, action, () =>
    dependencies.db.query('insert into bank_holidays (day) select unnest($1::date[]) on conflict (day) do nothing', [
      days,
    ]),
  );
}
