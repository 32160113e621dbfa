/** The one merchant account that the sandbox serves. The demo seed registers it with this very key. */
export const SANDBOX_SERVER_KEY = 'SB-Mid-server-lunas-sandbox';
export const SANDBOX_MERCHANT_ID = 'G000000001';
