import { z } from 'zod';
import { deleteProposedSettings } from '../../db/payouts/payout-settings';
import type { AuditDependencies } from '../audit/audit';
import { Operation } from '../operations/operation';
import { done, rejected } from '../operations/rejections';
import { payoutUserOf } from './payout-settings';

/** Any member with the right to authorise withdraws settings that wait for a second member. */
export const withdrawPayoutSettings = new Operation({
  name: 'payout_settings.withdraw',
  member: { area: 'payouts', level: 'authorise', stepUp: true, whileSuspended: true },
  path: z.object({}),
  input: z.object({ proposal: z.uuid() }),
  rejections: { superseded: {} },
  messages: { superseded: () => 'These settings do not wait any more: look at them again.' },
  load: (_needs: AuditDependencies, _scope, _path, by) => Promise.resolve(payoutUserOf(by)),
  target: ({ subject }) => subject.merchantId,
  async perform({ needs: { db }, subject: { merchantId }, input: { proposal: id } }) {
    const isWithdrawn = await deleteProposedSettings(db, { merchantId, id });
    return isWithdrawn ? done(null) : rejected({ reason: 'superseded' });
  },
});
