/** Before each test file of a project in jest.pgbouncer.config.cjs. */
process.env.LUNAS_TEST_POOL_MODE = 'transaction';
