const [, integration] = require('./jest.config.cjs').projects;

/** Proofs of two sizes (test/support/size.ts): `npm test` runs the small one. */
const FULL_SIZE = [
  'test/api/payments/create-payment/idempotency-concurrency.test.ts',
  'test/temporal/reconcile.test.ts',
];
process.env.LUNAS_TEST_SIZE ??= 'full';

/**
 * `npm run test:slow`: the files of test/slow, each of which takes about a minute or more, and the full sizes.
 * One file at a time, because each file loads the whole machine.
 * @type {import('jest').Config}
 */
module.exports = {
  projects: [
    {
      ...integration,
      displayName: 'slow',
      testMatch: ['test/slow/**/*.test.ts', ...FULL_SIZE].map((glob) => `<rootDir>/${glob}`),
    },
  ],
  testTimeout: 900_000,
  maxWorkers: 1,
};
