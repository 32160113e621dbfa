import { merchantCode, pagePath } from '../../page/page-path';

const ofMerchant = { code: merchantCode };

export const activityPath = pagePath('/m/:code/activity', ofMerchant);
export const exportActivityPath = pagePath('/m/:code/activity.csv', ofMerchant);
