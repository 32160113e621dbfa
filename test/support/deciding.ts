/** What an approval needs beside the database, if its action seals nothing, issues no key and calls no receiver. */
export const NOTHING_TO_SEAL = {
  environment: 'production',
  receiverRules: { environment: 'production' },
  loadSealer: () => Promise.reject(new Error('no sealer')),
} as const;
