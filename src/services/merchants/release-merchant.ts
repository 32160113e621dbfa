import { z } from 'zod';
import type { Queryable } from '../../db/connection/pool';
import type { PaymentWorkflowClient } from '../../temporal/payment-workflow-client';
import type { AuditDependencies } from '../audit/audit';
import { Operation } from '../operations/operation';
import { done } from '../operations/rejections';
import { wakeWorkflows } from '../payments/wake-workflows';
import { changeHold, findMerchant, ofMerchant } from './merchants';

interface ReleaseDependencies extends AuditDependencies {
  readonly workflows: Pick<PaymentWorkflowClient, 'signalProviderUpdate'>;
}

/**
 * Ends a merchant's hold and wakes the workflows that wait for it. A workflow that misses the signal settles its
 * payment within an hour. In production two operators decide it.
 */
export const releaseMerchant = new Operation({
  name: 'merchant.release',
  operator: 'settle',
  ...ofMerchant,
  input: z.object({}),
  load: ({ db }: ReleaseDependencies, _scope, { merchant }) => findMerchant(db, merchant),
  approval: { executes: 'workflow', target: ({ subject: { id, name } }) => `${name} (${id})` },
  async perform({ needs: { db, workflows }, subject: { id } }) {
    const released = await changeHold(db, id, false);
    await wakeWorkflows(workflows, await listDueForSettlement(db, id));
    return done(released);
  },
});

async function listDueForSettlement(db: Queryable, merchantId: string): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    "select id from payments where merchant_id = $1 and status = 'paid' and settlement_due_at <= now()",
    [merchantId],
  );
  return rows.map(({ id }) => id);
}
