import { z } from 'zod';
import { merchantCode, pagePath } from '../../page/page-path';

const ofMerchant = { code: merchantCode };
const ofPayout = { code: merchantCode, ref: z.string().regex(/^[\w-]{1,36}$/) };

export const payoutsPath = pagePath('/m/:code/payouts', ofMerchant);
export const exportPayoutsPath = pagePath('/m/:code/payouts.csv', ofMerchant);
export const newPayoutPath = pagePath('/m/:code/payouts/new', ofMerchant);
export const schedulePath = pagePath('/m/:code/payouts/schedule', ofMerchant);
export const proposedSchedulePath = pagePath('/m/:code/payouts/schedule/proposal', ofMerchant);

export const payoutPagePath = pagePath('/m/:code/payouts/:ref', ofPayout);
export const exportPayoutLinesPath = pagePath('/m/:code/payouts/:ref/lines.csv', ofPayout);

/** What a member can do with a payout, each at a path of its own. */
export const PAYOUT_ACTION_PATHS = {
  approve: pagePath('/m/:code/payouts/:ref/approve', ofPayout),
  cancel: pagePath('/m/:code/payouts/:ref/cancel', ofPayout),
} as const;
export type MemberPayoutAction = keyof typeof PAYOUT_ACTION_PATHS;
