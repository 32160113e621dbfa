import { z } from 'zod';
import { formatRupiah, MAX_TOTAL_RUPIAH } from '../../domain/money';
import type { AuditDependencies } from '../audit/audit';
import { Operation } from '../operations/operation';
import { done, rejected } from '../operations/rejections';
import { listApprovalRules } from './approval-rules';

const LIMITED_ACTIONS: readonly string[] = ['payment.settle', 'exception.resolve_as_refunded'];

/** Above this amount in rupiah, one settlement or manual refund of a late payment needs a second operator. */
export const setApprovalLimit = new Operation({
  name: 'approval.set_limit',
  operator: 'all',
  path: z.object({}),
  /** 0: each settlement needs a second operator. */
  input: z.object({ limitRupiah: z.int().min(0).max(MAX_TOTAL_RUPIAH) }),
  rejections: { superseded: {}, day_below_item: { dayRupiah: z.int() } },
  messages: {
    superseded: () => 'There is a newer limit than the one that this request would have replaced: request it again.',
    day_below_item: ({ dayRupiah }) => `The rules allow ${formatRupiah(dayRupiah)} a day: raise that first.`,
  },
  async load({ db }: AuditDependencies) {
    const rules = (await listApprovalRules(db)).filter(({ action }) => LIMITED_ACTIONS.includes(action));
    return {
      id: Math.max(...rules.map(({ id }) => id)),
      dayRupiah: Math.min(...rules.flatMap((rule) => [rule.operatorDayRupiah, rule.merchantDayRupiah]).map(orNoLimit)),
    };
  },
  target: ({ input }) => formatRupiah(input.limitRupiah),
  approval: { executes: 'database', amountRupiah: ({ input }) => input.limitRupiah, replaces: ({ id }) => id },
  async perform({ needs: { db }, subject: { id, dayRupiah }, input, approval }) {
    if (input.limitRupiah > dayRupiah) return rejected({ reason: 'day_below_item', dayRupiah });
    const { rowCount } = await db.query(
      `insert into approval_rules (action, item_rupiah, operator_day_rupiah, merchant_day_rupiah, operator_day_count,
         replaces_id)
       select rule.action, $1, operator_day_rupiah, merchant_day_rupiah, operator_day_count, rule.id
       from unnest($2::text[]) limited, rule_in_force(limited) rule
       where (select max(id) from approval_rules where action = any ($2)) = $3
       on conflict (action, replaces_id) do nothing`,
      [input.limitRupiah, LIMITED_ACTIONS, approval?.replaces ?? id],
    );
    return rowCount === LIMITED_ACTIONS.length ? done(input) : rejected({ reason: 'superseded' });
  },
});

const orNoLimit = (rupiah: number | null) => rupiah ?? Infinity;
