import { z } from 'zod';
import type { Queryable } from '../../db/connection/pool';
import { onlyRow } from '../../db/connection/require-row';
import { formatRupiah, MAX_TOTAL_RUPIAH } from '../../domain/money';
import type { AuditDependencies } from '../audit/audit';
import { Operation } from '../operations/operation';
import { done, rejected } from '../operations/rejections';

/** Above this amount in rupiah, settlements and manual refunds of late payments need a second operator. */
export const setApprovalLimit = new Operation({
  name: 'approval.set_limit',
  operator: true,
  path: z.object({}),
  /** 0: each settlement needs a second operator. */
  input: z.object({ limitRupiah: z.int().min(0).max(MAX_TOTAL_RUPIAH) }),
  rejections: { superseded: {} },
  messages: {
    superseded: () => 'There is a newer limit than the one that this request would have replaced: request it again.',
  },
  load: ({ db }: AuditDependencies) => findNewestLimit(db),
  target: ({ input }) => formatRupiah(input.limitRupiah),
  approval: { executes: 'database', amountRupiah: ({ input }) => input.limitRupiah, replaces: ({ id }) => id },
  async perform({ needs: { db }, subject, input, approval }) {
    const { rowCount } = await db.query(
      'insert into approval_limits (limit_rupiah, replaces_id) values ($1, $2) on conflict (replaces_id) do nothing',
      [input.limitRupiah, approval === null ? subject.id : approval.replaces],
    );
    return rowCount === 1 ? done(input) : rejected({ reason: 'superseded' });
  },
});

async function findNewestLimit(db: Queryable): Promise<{ readonly id: number }> {
  const { rows } = await db.query<{ id: number }>('select id from approval_limits order by id desc limit 1');
  return onlyRow(rows);
}
