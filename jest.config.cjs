const { availableParallelism } = require('node:os');

/** The tests without a server: `npm run test:unit`. Every other file is an integration test. */
const UNIT = [
  'test/*.test.ts',
  'test/docs/!(diagrams).test.ts',
  'test/{activities,domain,lib,packages,qris,scripts,tidy}/**/*.test.ts',
  'test/api/payments/create-payment/{rejection-error,return-url}.test.ts',
  'test/cli/{duration,output}.test.ts',
  'test/crypto/{aead,sealing,secret-key}.test.ts',
  'test/db/migration-rules.test.ts',
  'test/db/transitions/statements.test.ts',
  'test/http/{event-stream,request-deadline,strict-json}.test.ts',
  'test/local-stack/{data-directory,failure-reason,ports,progress,supervisor,task-group}.test.ts',
  'test/observability/logger.test.ts',
  'test/providers/border.test.ts',
  'test/providers/calls/call-slots.test.ts',
  'test/providers/midtrans/{midtrans-provider,notification}.test.ts',
  'test/providers/snap/holder-name.test.ts',
  'test/services/invoices/invoice-pdf.test.ts',
  'test/services/payments/create/admission.test.ts',
  'test/snap/**/*.test.ts',
  'test/temporal/fairness-key.test.ts',
  'test/web/dashboard/{fee-text,field-attributes,paths}.test.ts',
  'test/web/dashboard/{links/new-link-fields,payments/new-payment,payments/payment-facts}.test.ts',
  'test/web/dashboard/settings/identity-card.test.ts',
  'test/web/docs/samples.test.ts',
  'test/web/page/read-form.test.ts',
  'test/webhooks/{retry-policy,sign,special-purpose-networks}.test.ts',
  'test/workflows/{module-state,versions}.test.ts',
];

/**
 * Integration tests of more than 13 s, but for the core of payments and payouts. `npm test` leaves them to
 * `npm run test:slow`, unless they are named.
 */
const LONG = [
  'test/api/mutated-requests.test.ts',
  'test/api/operator/operator-api.test.ts',
  'test/api/payments/create-payment/create-bulk.test.ts',
  'test/api/webhook-stream/webhook-stream.test.ts',
  'test/cli/attention-next.test.ts',
  'test/cli/bank-account-commands.test.ts',
  'test/cli/built-command.test.ts',
  'test/cli/long-commands.test.ts',
  'test/cli/write-commands.test.ts',
  'test/db/roles.test.ts',
  'test/db/transitions/payout-transitions.test.ts',
  'test/e2e/dev.test.ts',
  'test/http/shutdown.test.ts',
  'test/http/slow-body.test.ts',
  'test/local-stack/find-temporal-binary.test.ts',
  'test/local-stack/postgres.test.ts',
  'test/local-stack/up.test.ts',
  'test/providers/midtrans/against-sandbox.test.ts',
  'test/providers/snap/against-bank.test.ts',
  'test/sandbox/faults.test.ts',
  'test/sandbox/magic-amounts.test.ts',
  'test/security/approvals.test.ts',
  'test/security/limits.test.ts',
  'test/security/other-merchants.test.ts',
  'test/security/planted-secrets.test.ts',
  'test/security/public-endpoints.test.ts',
  'test/security/temporal.test.ts',
  'test/services/archive/archive.test.ts',
  'test/services/identity/sign-in.test.ts',
  'test/services/ledger/verify-ledger.test.ts',
  'test/services/payments/requests.test.ts',
  'test/services/payouts/bank-accounts.test.ts',
  'test/services/payouts/payouts-at-bank.test.ts',
  'test/services/payouts/scheduled-payouts.test.ts',
  'test/services/reconciliation/believable-runs.test.ts',
  'test/services/reconciliation/compare-payments.test.ts',
  'test/services/recovery/lost-workflow.test.ts',
  'test/services/recovery/recover-payouts.test.ts',
  'test/services/recovery/recover.test.ts',
  'test/temporal/outage.test.ts',
  'test/web/docs/docs.test.ts',
  'test/webhooks/isolation.test.ts',
  'test/webhooks/relay.test.ts',
  'test/webhooks/retry-workflow.test.ts',
  'test/webhooks/ssrf-guard.test.ts',
  'test/worker/catch-up.test.ts',
  'test/worker/recovery-mode.test.ts',
  'test/worker/sweeper.test.ts',
  'test/workflows/bank-account.test.ts',
  'test/workflows/budget.test.ts',
  'test/workflows/hold.test.ts',
  'test/workflows/late-payment.test.ts',
  'test/workflows/long-history.test.ts',
  'test/workflows/provider-differences.test.ts',
  'test/workflows/refund.test.ts',
  'test/workflows/webhook-delivery.test.ts',
];

const inRoot = (glob) => `<rootDir>/${glob}`;
// Jest does not replace `<rootDir>` after `!`.
const not = (glob) => `!${__dirname}/${glob}`;

/** `tsx` is an option of its own: with it `<Type>(value) => …` cannot be parsed. */
const compileWith = (tsx) => [
  '@swc/jest',
  {
    sourceMaps: 'inline',
    jsc: { parser: { syntax: 'typescript', tsx }, target: 'es2022', transform: { react: { runtime: 'automatic' } } },
    module: { type: 'commonjs' },
  },
];

const shared = {
  transform: { '^.+\\.tsx$': compileWith(true), '^.+\\.ts$|/marked\\.esm\\.js$': compileWith(false) },
  // marked has only ES modules, which Jest does not load by `require`.
  transformIgnorePatterns: ['/node_modules/(?!marked/)'],
  // A module that is imported on demand has the name of its compiled file.
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  moduleFileExtensions: ['js', 'ts', 'tsx', 'json', 'node', 'cjs', 'mjs'],
  modulePathIgnorePatterns: ['<rootDir>/dist/'],
};

// Jest runs the global setup of a project only if it runs a file of that project.
const integration = {
  ...shared,
  displayName: 'integration',
  testMatch: ['test/**/*.test.ts']
    .map(inRoot)
    .concat(['test/slow/**', 'test/e2e/up.test.ts', ...UNIT, ...LONG].map(not)),
  globalSetup: '<rootDir>/test/setup/memory-setup.ts',
  globalTeardown: '<rootDir>/test/setup/global-teardown.ts',
};

/** @type {import('jest').Config} */
module.exports = {
  projects: [
    { ...shared, displayName: 'unit', testMatch: UNIT.map(inRoot) },
    integration,
    { ...integration, displayName: 'long', testMatch: LONG.map(inRoot) },
  ],
  testSequencer: '<rootDir>/test/setup/longest-first.cjs',
  // Several times the 90 s for which `eventually` waits.
  testTimeout: 300_000,
  // Tests mostly wait for a server, not for a core. With three for each core, creates missed the deadline of the API.
  // Jest reads a percentage above 100 as a number of processes.
  maxWorkers: 2 * availableParallelism(),
};
