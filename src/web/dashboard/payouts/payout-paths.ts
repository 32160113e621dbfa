import { merchantCode, pagePath } from '../../page/page-path';

const ofMerchant = { code: merchantCode };

export const schedulePath = pagePath('/m/:code/payouts/schedule', ofMerchant);
export const proposedSchedulePath = pagePath('/m/:code/payouts/schedule/proposal', ofMerchant);
