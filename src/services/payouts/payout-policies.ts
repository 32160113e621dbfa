import { z } from 'zod';
import type { Queryable } from '../../db/connection/pool';
import { requireRow } from '../../db/connection/require-row';
import { RAILS, type Rail } from '../../domain/payout-rails';
import type { AuditDependencies } from '../audit/audit';
import { Operation } from '../operations/operation';
import { done, rejected } from '../operations/rejections';
import { NEWER_POLICY } from '../provider-accounts/catalog';

/** A row of `payout_policies`, by its columns: a trigger compares it with what two operators have approved. */
const policyTerms = z.object({
  fee_rupiah: z.int().min(0),
  /** The least amount that is sent. */
  min_rupiah: z.int().min(1),
  /** Null: no limit. */
  max_rupiah: z.int().min(0).nullable(),
  /** `08:00:00`, in WIB. */
  opens_at: z.string(),
  /** `24:00:00`: it does not close. */
  closes_at: z.string(),
  days: z.enum(['every', 'working']),
  expected_within_seconds: z.int().min(1),
  is_enabled: z.boolean(),
});

export type PayoutPolicyVersion = z.output<typeof policyTerms> & { readonly rail: Rail; readonly version: number };

const TERMS = `fee_rupiah, min_rupiah, max_rupiah, opens_at, closes_at, days, expected_within_seconds, is_enabled`;

/** The version in force of each rail. */
export async function listPayoutPolicies(db: Queryable): Promise<PayoutPolicyVersion[]> {
  const { rows } = await db.query<PayoutPolicyVersion>(
    `select distinct on (rail) rail, version, ${TERMS} from payout_policies order by rail, version desc`,
  );
  return rows;
}

/** Writes the next version of a rail's policy. Absent terms are copied; payouts keep the version that they captured. */
export const setPayoutPolicy = new Operation({
  name: 'payout.set_policy',
  operator: 'all',
  path: z.object({ rail: z.enum(RAILS) }),
  input: policyTerms.partial(),
  rejections: { max_below_min: {}, closes_before_opening: {}, superseded: {} },
  messages: {
    max_below_min: () => 'The greatest amount is below the least one.',
    closes_before_opening: () => 'The window closes before it opens.',
    superseded: () => NEWER_POLICY,
  },
  async load({ db }: AuditDependencies, _scope, { rail }) {
    const { rows } = await db.query<PayoutPolicyVersion & { readonly id: number }>(
      `select id, rail, version, ${TERMS} from payout_policies where rail = $1 order by version desc limit 1`,
      [rail],
    );
    return requireRow(rows, 'policy', rail);
  },
  target: ({ subject }) => subject.rail,
  allows(before, _by, input = {}) {
    const { min_rupiah: min = before.min_rupiah, max_rupiah: max = before.max_rupiah } = input;
    const { opens_at: opensAt = before.opens_at, closes_at: closesAt = before.closes_at } = input;
    if (max !== null && max < min) return { reason: 'max_below_min' };
    return closesAt <= opensAt ? { reason: 'closes_before_opening' } : null;
  },
  approval: { executes: 'database', replaces: ({ id }) => id },
  async perform({ needs: { db }, subject, input, approval }) {
    const { rows } = await db.query<PayoutPolicyVersion>(
      `insert into payout_policies (rail, version, ${TERMS})
       select before.rail, before.version + 1, ${TERMS.replaceAll(/\w+/g, 'changed.$&')}
       from payout_policies before, jsonb_populate_record(before, $2) changed where before.id = $1
       on conflict (rail, version) do nothing returning rail, version, ${TERMS}`,
      [approval === null ? subject.id : approval.replaces, JSON.stringify(input)],
    );
    return rows[0] === undefined ? rejected({ reason: 'superseded' }) : done(rows[0]);
  },
});
