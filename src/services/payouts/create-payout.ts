import { z } from 'zod';
import { requireMerchant } from '../../db/merchants/require-merchant';
import { findPayoutRow } from '../../db/payouts/list-payouts';
import { toStepActor } from '../../domain/actor';
import type { AuditDependencies } from '../audit/audit';
import { Operation } from '../operations/operation';
import { done, notKnown, rejected } from '../operations/rejections';
import { payableMessage, payableReason } from './payable';
import { payoutIdOf, previewPayout, requestAs, type PayoutWorkflows } from './payouts';

interface CreateNeeds extends AuditDependencies {
  readonly workflows: { readonly payouts: PayoutWorkflows };
}

/** Requests a payout of a merchant's whole balance, which an operator approves. The same key is the same payout. */
export const createPayout = new Operation({
  name: 'payout.create',
  operator: 'all',
  path: z.object({ merchant: z.uuid() }),
  input: z.object({ key: z.string() }),
  rejections: payableReason,
  messages: payableMessage,
  async load({ db }: CreateNeeds, _scope, { merchant }) {
    await requireMerchant(db, merchant);
    return { merchantId: merchant };
  },
  target: ({ subject: { merchantId }, input: { key } }) => payoutIdOf(merchantId, keyOf(key)),
  earlier: async ({ needs: { db }, subject: { merchantId }, input: { key } }) =>
    (await findPayoutRow(db, merchantId, payoutIdOf(merchantId, keyOf(key)))) ?? null,
  async perform({ needs: { db, workflows }, by, note, subject: { merchantId }, input: { key } }) {
    const now = new Date();
    const preview = await previewPayout(db, merchantId, now);
    // What was seen is compared only if the payout is a new one.
    const seen = preview.outcome === 'possible' ? preview : { afterPostingId: 0, upToPostingId: 0, grossRupiah: 0 };
    const requester = { merchantId, key: keyOf(key), by: toStepActor(by, note) };
    const result = await requestAs({ db, workflows: workflows.payouts }, requester, seen, now).catch(notKnown);
    if (result.outcome === 'unknown') return result;
    if (result.outcome === 'requested') return done(result.payout);
    const { rejection } = preview.outcome === 'rejected' ? preview : result;
    return rejected({ reason: 'not_payable', why: rejection });
  },
});

const keyOf = (key: string) => `operator:${key}`;
