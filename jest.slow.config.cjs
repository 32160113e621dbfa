const base = require('./jest.config.cjs');

/**
 * `npm run test:slow`: proof that takes minutes. One file at a time, since each file loads the whole machine.
 * @type {import('jest').Config}
 */
module.exports = {
  ...base,
  testMatch: ['<rootDir>/test/slow/**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
  testTimeout: 900_000,
  maxWorkers: 1,
};
