import { z } from 'zod';
import { findPayoutRow } from '../../db/payouts/list-payouts';
import { toStepActor } from '../../domain/actor';
import type { AuditDependencies } from '../audit/audit';
import { Operation } from '../operations/operation';
import { done, notKnown, rejected } from '../operations/rejections';
import { isTemporalAway, temporalMessage, temporalReason, type TemporalState } from '../operations/temporal-away';
import { payableMessage, payableReason } from './payable';
import { payoutUserOf } from './payout-settings';
import { payoutIdOf, requestAs, type PayoutWorkflows } from './payouts';

interface RequestNeeds extends AuditDependencies, TemporalState {
  readonly workflows: { readonly payouts: PayoutWorkflows };
}

/**
 * Requests the payout that the member has seen. The id of the form decides that of the payout, so a form that is sent
 * twice requests one. What keeps the payouts of a suspended merchant back is a reason of its balance.
 */
export const requestPayout = new Operation({
  name: 'payout.request',
  member: { area: 'payouts', level: 'manage', stepUp: true, whileSuspended: true },
  path: z.object({}),
  input: z.object({ afterPostingId: z.int().min(0), upToPostingId: z.int().min(0), grossRupiah: z.int().min(1) }),
  rejections: { ...payableReason, ...temporalReason },
  messages: { ...payableMessage, ...temporalMessage },
  load: (_needs: RequestNeeds, _scope, _path, by) => Promise.resolve(payoutUserOf(by)),
  target: ({ subject: { merchantId }, formId }) => payoutIdOf(merchantId, keyOf(formId)),
  detail: ({ input }) => ({ gross: input.grossRupiah }),
  earlier: async ({ needs: { db }, subject: { merchantId }, formId }) =>
    (await findPayoutRow(db, merchantId, payoutIdOf(merchantId, keyOf(formId)))) ?? null,
  async perform({ needs, by, subject: { merchantId }, input, formId }) {
    if (await isTemporalAway(needs)) return rejected({ reason: 'temporal_away' });
    const dependencies = { db: needs.db, workflows: needs.workflows.payouts };
    const requester = { merchantId, key: keyOf(formId), by: toStepActor(by) };
    const result = await requestAs(dependencies, requester, input, new Date()).catch(notKnown);
    if (result.outcome === 'unknown') return result;
    return result.outcome === 'requested'
      ? done(result.payout)
      : rejected({ reason: 'not_payable', why: result.rejection });
  },
});

const keyOf = (formId: string) => `form:${formId}`;
