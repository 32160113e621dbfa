const [, inMemory, long] = require('./jest.config.cjs').projects;

const integration = { ...inMemory, globalSetup: '<rootDir>/test/setup/disk-setup.ts' };

/** The slow end-to-end test. */
const OUTSIDE = ['test/e2e/up.test.ts'];
/** Another load on the machine can change their results. */
const ALONE = [
  // Rates and durations of requests.
  'test/slow/isolation/account-isolation.test.ts',
  'test/slow/isolation/checkout-load.test.ts',
  'test/slow/dashboard/load.test.ts',
  'test/slow/isolation/overload.test.ts',
  'test/slow/deployment/rolling-restart.test.ts',
  // Two requests that meet within some milliseconds.
  'test/slow/durability/races.test.ts',
  // All agree 60 s after twelve kills: 56 s on two cores with twenty runnable processes.
  'test/slow/durability/kills.test.ts',
];
/** Only jest.cluster.config.cjs builds the Temporal server that they start. */
const WITH_CLUSTER = ['test/slow/durability/temporal-database.test.ts'];

/** Minutes, and PostgreSQL 15 with pgBackRest: only `npm run drill` and `npm run test:proof` run it. */
const DRILLS = ['test/slow/durability/backup-drill.test.ts'];

const inRoot = (file) => `<rootDir>/${file}`;
// Jest does not replace `<rootDir>` after `!`.
const not = (file) => `!${__dirname}/${file}`;

/**
 * `npm run test:slow`: the files of test/slow, most of which take half a minute or more, and what `npm test` leaves to
 * it. `npm run test:proof` runs the full sizes of some.
 * Four files at a time on two cores: most of them wait for timers and for processes that start, and use a third of a
 * core. The suites beside it run one more.
 * @type {import('jest').Config}
 */
module.exports = {
  projects: [
    {
      ...integration,
      displayName: 'slow',
      testMatch: ['test/slow/**/*.test.ts', ...OUTSIDE]
        .map(inRoot)
        .concat([...ALONE, ...WITH_CLUSTER, ...DRILLS].map(not)),
    },
    { ...integration, displayName: 'long', testMatch: long.testMatch },
    {
      ...integration,
      displayName: 'alone',
      testMatch: ALONE.map(inRoot),
      runner: '<rootDir>/test/setup/serial-runner.cjs',
    },
  ],
  testSequencer: '<rootDir>/test/setup/longest-first.cjs',
  testTimeout: 900_000,
  maxWorkers: 4,
};
