export const RAILS = ['bi_fast', 'online', 'skn', 'rtgs'] as const;
/** How a bank moves the money to another bank. */
export type Rail = (typeof RAILS)[number];
