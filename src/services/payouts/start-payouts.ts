import { z } from 'zod';
import { actorText } from '../../domain/actor';
import type { AuditDependencies } from '../audit/audit';
import { Operation } from '../operations/operation';
import { done, rejected } from '../operations/rejections';
import { ALL_PAYOUTS, findNewestStop } from './payout-stops';

/** Ends the stop of payouts that was seen. Payouts that wait are sent within 30 seconds. */
export const startPayouts = new Operation({
  name: 'payout.start',
  operator: 'payout',
  path: z.object({}),
  input: z.object({}),
  rejections: { not_stopped: {} },
  messages: { not_stopped: () => 'Payouts are not stopped, or were stopped again since.' },
  load: ({ db }: AuditDependencies) => findNewestStop(db),
  target: () => ALL_PAYOUTS,
  allows: (newest) => (newest?.isStopped ? null : { reason: 'not_stopped' }),
  approval: { executes: 'database', replaces: (newest) => newest?.id ?? null },
  async perform({ needs: { db }, by, note, subject, approval }) {
    const { rowCount } = await db.query(
      `insert into payout_stops (is_stopped, ended_stop_id, changed_by, note)
       select false, id, $1, $2
       from (select id, is_stopped from payout_stops order by id desc limit 1) newest
       where is_stopped and id = $3`,
      [actorText(by), note, approval === null ? subject?.id : approval.replaces],
    );
    return rowCount === 0 ? rejected({ reason: 'not_stopped' }) : done(null);
  },
});
