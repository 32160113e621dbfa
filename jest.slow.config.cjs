const [, integration] = require('./jest.config.cjs').projects;

/** Proofs of two sizes (test/support/size.ts), of which `npm test` runs the small one, and the slow end-to-end test. */
const OUTSIDE = [
  'test/e2e/up.test.ts',
  'test/api/payments/create-payment/idempotency-concurrency.test.ts',
  'test/temporal/reconcile.test.ts',
];
process.env.LUNAS_TEST_SIZE ??= 'full';

/**
 * `npm run test:slow`: the files of test/slow, most of which take half a minute or more, and the full sizes.
 * One file at a time, because each file loads the whole machine.
 * @type {import('jest').Config}
 */
module.exports = {
  projects: [
    {
      ...integration,
      displayName: 'slow',
      testMatch: ['test/slow/**/*.test.ts', ...OUTSIDE].map((glob) => `<rootDir>/${glob}`),
    },
  ],
  testTimeout: 900_000,
  maxWorkers: 1,
};
