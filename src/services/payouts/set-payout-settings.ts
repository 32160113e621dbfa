import { z } from 'zod';
import { findAuthority, findRequiredApproval } from '../../db/identity/members';
import { findProposedSettings, proposePayoutSettings, savePayoutSettings } from '../../db/payouts/payout-settings';
import { actorText, type Person } from '../../domain/actor';
import { PAYOUT_SCHEDULES, WEEKDAYS } from '../../domain/payout-schedule';
import type { AuditDependencies } from '../audit/audit';
import { Operation } from '../operations/operation';
import { done } from '../operations/rejections';
import { getPayoutSettings, payoutUserOf } from './payout-settings';
import { secondMemberMessages } from './second-member';

/**
 * A member with the right to authorise changes the settings. A schedule waits for a second member, if there is one: no
 * other one approves its payouts. Stopping needs no other one, and no approved merchant.
 */
export const setPayoutSettings = new Operation({
  name: 'payout_settings.set',
  member: { area: 'payouts', level: 'authorise', stepUp: true, whileSuspended: true },
  path: z.object({}),
  input: z.object({
    schedule: z.enum(PAYOUT_SCHEDULES),
    weekday: z.literal(WEEKDAYS).nullable(),
    minimumRupiah: z.int().min(1),
  }),
  rejections: { member_too_new: {}, none_counts: {} },
  messages: {
    member_too_new: secondMemberMessages.member_too_new,
    none_counts: () => 'No other member counts as a second person.',
  },
  load: loadSettings,
  target: ({ subject }) => subject.merchantId,
  /** The rule for a change of a schedule by this member. A trigger has the same one. */
  allows({ isAuthorised, approval }, _by, input) {
    if (input?.schedule === 'manual') return null;
    if (!isAuthorised) return { reason: 'member_too_new' };
    return approval === 'operator' ? { reason: 'none_counts' } : null;
  },
  async perform({ needs: { db }, by, subject: { merchantId, approval }, input }) {
    const change = { ...input, merchantId, changedBy: actorText(by), changedAt: new Date() };
    const waits = input.schedule !== 'manual' && approval === 'second_user';
    await (waits ? proposePayoutSettings(db, change) : savePayoutSettings(db, change));
    return done(waits ? 'proposed' : 'saved');
  },
});

async function loadSettings({ db }: AuditDependencies, _scope: unknown, _path: unknown, by: Person) {
  const user = payoutUserOf(by);
  const { merchantId } = user;
  const [settings, proposed, approval, { isAuthorised }] = await Promise.all([
    getPayoutSettings(db, merchantId),
    findProposedSettings(db, merchantId),
    findRequiredApproval(db, merchantId, actorText(by)),
    findAuthority(db, user, null),
  ]);
  return { merchantId, settings, isProposed: proposed !== undefined, approval, isAuthorised };
}
