const [, integration] = require('./jest.config.cjs').projects;

/**
 * `npm run test:cluster`: the end-to-end tests with a Temporal server on PostgreSQL. Its first run builds the server,
 * which needs Go 1.26 and four to five minutes on two cores.
 * @type {import('jest').Config}
 */
module.exports = {
  projects: [
    {
      ...integration,
      displayName: 'cluster',
      testMatch: [
        'test/e2e/up.test.ts',
        'test/slow/deployment/replicas.test.ts',
        'test/slow/durability/temporal-database.test.ts',
      ].map((file) => `<rootDir>/${file}`),
      globalSetup: '<rootDir>/test/setup/cluster-setup.ts',
    },
  ],
  testTimeout: 600_000,
  maxWorkers: 1,
};
