import { z } from 'zod';
import type { Queryable } from '../../db/connection/pool';
import type { PaymentWorkflowClient } from '../../temporal/payment-workflow-client';
import type { AuditDependencies } from '../audit/audit';
import { Operation } from '../operations/operation';
import { done, rejected } from '../operations/rejections';
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
  rejections: { superseded: {} },
  messages: { superseded: () => 'The merchant is on hold again since the request: request it again.' },
  // An approval ends the hold that the request names, and not a later one.
  approval: {
    executes: 'workflow',
    target: ({ subject: { id, name } }) => `${name} (${id})`,
    replaces: ({ heldAt }) => heldAt?.getTime() ?? null,
  },
  earlier: ({ subject, approval }) => Promise.resolve(approval !== null && subject.heldAt === null ? subject : null),
  async perform({ needs: { db, workflows }, subject: { id, heldAt }, approval }) {
    if (approval !== null && approval.replaces !== heldAt?.getTime()) return rejected({ reason: 'superseded' });
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
