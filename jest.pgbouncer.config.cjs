const [unit, integration] = require('./jest.config.cjs').projects;

const EXCLUDED = ['<rootDir>/test/slow/**', ...unit.testMatch].map((glob) =>
  glob.replace('<rootDir>', `!${__dirname}`),
);
const testMatch = ['<rootDir>/test/api/**/*.test.ts', '<rootDir>/test/e2e/*.test.ts', ...EXCLUDED];

/** The tests of the API and the end-to-end tests, through a PgBouncer in this mode. */
function through(mode) {
  return {
    ...integration,
    displayName: mode,
    testMatch,
    globalSetup: '<rootDir>/test/setup/pgbouncer-setup.ts',
    setupFiles: [`<rootDir>/test/setup/${mode}-pooler.ts`],
  };
}

/**
 * `npm run test:pgbouncer`. Both modes share the servers of one global setup.
 * @type {import('jest').Config}
 */
module.exports = {
  projects: [through('session'), through('transaction')],
  testTimeout: 180_000,
  maxWorkers: 3,
};
