import { z } from 'zod';
import { formatRupiah } from '../../domain/money';
import { NotFoundError } from '../../errors';
import type { AuditDependencies } from '../audit/audit';
import { Operation } from '../operations/operation';
import { done, rejected } from '../operations/rejections';
import { listApprovalRules } from './approval-rules';

const limit = z.int().min(0).nullable().default(null);

/** Sets what one operator may do alone, as a whole: what is left out has no limit. */
export const setApprovalRule = new Operation({
  name: 'approval.set_rule',
  operator: 'all',
  path: z.object({ action: z.string() }),
  input: z.object({
    itemRupiah: limit,
    operatorDayRupiah: limit,
    merchantDayRupiah: limit,
    operatorDayCount: limit,
  }),
  rejections: { superseded: {}, day_below_item: { dayRupiah: z.int() } },
  messages: {
    superseded: () => 'There is a newer rule than the one that this request would have replaced: request it again.',
    day_below_item: ({ dayRupiah }) => `One act may not have more than the acts of a day: ${formatRupiah(dayRupiah)}.`,
  },
  async load({ db }: AuditDependencies, _scope, { action }) {
    const rule = (await listApprovalRules(db)).find((each) => each.action === action);
    if (rule === undefined) throw new NotFoundError('approvalRule', action);
    return rule;
  },
  target: ({ subject }) => subject.action,
  approval: { executes: 'database', replaces: ({ id }) => id },
  async perform({ needs: { db }, subject: { id, action }, input, approval }) {
    const { itemRupiah, operatorDayRupiah, merchantDayRupiah, operatorDayCount } = input;
    const dayRupiah = Math.min(operatorDayRupiah ?? Infinity, merchantDayRupiah ?? Infinity);
    if (itemRupiah !== null && itemRupiah > dayRupiah) return rejected({ reason: 'day_below_item', dayRupiah });
    const { rowCount } = await db.query(
      `insert into approval_rules (action, item_rupiah, operator_day_rupiah, merchant_day_rupiah, operator_day_count,
         replaces_id)
       values ($1, $2, $3, $4, $5, $6) on conflict (action, replaces_id) do nothing`,
      [action, itemRupiah, operatorDayRupiah, merchantDayRupiah, operatorDayCount, approval?.replaces ?? id],
    );
    return rowCount === 1 ? done({ action, ...input }) : rejected({ reason: 'superseded' });
  },
});
