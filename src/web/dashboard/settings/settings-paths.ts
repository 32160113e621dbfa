import { merchantCode, pagePath } from '../../page/page-path';

const ofMerchant = { code: merchantCode };

export const settingsPath = pagePath('/m/:code/settings', ofMerchant);
export const editSettingsPath = pagePath('/m/:code/settings/edit', ofMerchant);
export const appearancePath = pagePath('/m/:code/settings/checkout', ofMerchant);
export const uploadLogoPath = pagePath('/m/:code/settings/checkout/logo', ofMerchant);
export const removeLogoPath = pagePath('/m/:code/settings/checkout/logo/remove', ofMerchant);
/** The query has the hash of the image, so another image has another address. */
export const logoPath = pagePath('/m/:code/settings/checkout/logo.png', ofMerchant);
