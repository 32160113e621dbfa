import { merchantCode, pagePath } from '../../page/page-path';

const ofMerchant = { code: merchantCode };

export const counterPath = pagePath('/m/:code/counter', ofMerchant);
export const shiftPath = pagePath('/m/:code/counter/shift', ofMerchant);
export const exportShiftPath = pagePath('/m/:code/counter/shift.csv', ofMerchant);

/** What makes the counter an app. They are the same for everyone: no path has a merchant. */
export const manifestPath = pagePath('/counter.webmanifest', {});
export const workerPath = pagePath('/counter-worker.js', {});
export const offlinePath = pagePath('/offline', {});
