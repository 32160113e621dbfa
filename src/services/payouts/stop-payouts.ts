import { z } from 'zod';
import { actorText } from '../../domain/actor';
import type { AuditDependencies } from '../audit/audit';
import { Operation } from '../operations/operation';
import { done } from '../operations/rejections';
import { ALL_PAYOUTS, findNewestStop } from './payout-stops';

/**
 * From now on no payout is requested, and none is sent to the bank. What the bank has goes on. Each stop is recorded:
 * a start that was requested before it ends an earlier one, and fails.
 */
export const stopPayouts = new Operation({
  name: 'payout.stop',
  operator: 'payout',
  path: z.object({}),
  input: z.object({}),
  rejections: {},
  messages: {},
  load: ({ db }: AuditDependencies) => findNewestStop(db),
  target: () => ALL_PAYOUTS,
  async perform({ needs: { db }, by, note, subject: newest }) {
    const insert = 'insert into payout_stops (is_stopped, changed_by, note) values (true, $1, $2)';
    await db.query(insert, [actorText(by), note]);
    return done({ wasStopped: newest?.isStopped ?? false });
  },
});
