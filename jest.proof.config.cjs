const [slow] = require('./jest.slow.config.cjs').projects;

process.env.LUNAS_TEST_SIZE = 'full';

/** Every file with two sizes (test/support/size.ts). `npm test` and `npm run test:slow` run the small ones. */
const PROOFS = [
  'test/api/checkout/link-page.test.ts',
  'test/api/payments/create-payment/idempotency-concurrency.test.ts',
  'test/db/links/payment-links.test.ts',
  'test/db/payments/own-payments.test.ts',
  'test/db/transitions/payout-transitions.test.ts',
  'test/domain/rupiah-words.test.ts',
  'test/lib/fields.test.ts',
  'test/providers/own-accounts.test.ts',
  'test/services/payouts/payable-balance.test.ts',
  'test/services/payouts/payouts-at-bank.test.ts',
  'test/services/payouts/scheduled-payouts.test.ts',
  'test/services/provider-accounts/captured-policy.test.ts',
  'test/services/reconciliation/compare-payments.test.ts',
  'test/slow/dashboard/buffers.test.ts',
  'test/slow/deployment/rolling-restart.test.ts',
  'test/slow/durability/backup-drill.test.ts',
  'test/slow/durability/fault-matrix.test.ts',
  'test/slow/durability/kills.test.ts',
  'test/slow/durability/listen.test.ts',
  'test/slow/durability/long-outage.test.ts',
  'test/slow/durability/model.test.ts',
  'test/slow/durability/node-sdk.test.ts',
  'test/slow/durability/payment-links.test.ts',
  'test/slow/durability/races.test.ts',
  'test/slow/durability/replayed-notifications.test.ts',
  'test/slow/isolation/checkout-load.test.ts',
  'test/slow/scale/bench.test.ts',
  'test/slow/scale/days-and-totals.test.ts',
  'test/slow/scale/large-balance.test.ts',
  'test/slow/scale/nightly-pass.test.ts',
  'test/slow/scale/scale.test.ts',
];

/**
 * `npm run test:proof`: the full sizes, one file at a time. docs/proof.md has when to run it.
 * @type {import('jest').Config}
 */
module.exports = {
  projects: [{ ...slow, displayName: 'proof', testMatch: PROOFS.map((file) => `<rootDir>/${file}`) }],
  testTimeout: 5_400_000,
  maxWorkers: 1,
};
