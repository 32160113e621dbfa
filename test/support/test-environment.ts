/** The database that `createTestDatabase` copies: migrated, empty, closed for connections. */
export const TEMPLATE_DATABASE = 'lunas_template';

type VariableName =
  | 'DATABASE_SERVER_URL'
  | 'DATABASE_LOG_PATH'
  | 'TEMPORAL_ADDRESS'
  | 'TEMPORAL_CLI_PATH'
  | 'TEST_SERVER_PATH'
  | 'WORKFLOW_BUNDLE_PATH';

/** `npm run test:pgbouncer` sets the ports of its poolers, by their mode. */
type PoolerPort = 'SESSION_PORT' | 'TRANSACTION_PORT';

/** What the global setup started or found. */
export type TestEnvironment = Readonly<Record<VariableName, string> & Partial<Record<PoolerPort, string>>>;

/** The test processes inherit the environment. */
export function publishTestEnvironment(environment: TestEnvironment): void {
  for (const [name, value] of Object.entries(environment)) process.env[variableOf(name)] = value;
}

/** @throws Error in unit tests, because the global setup belongs to the integration tests (jest.config.cjs) */
export function testEnvironment(name: VariableName | PoolerPort): string {
  const value = process.env[variableOf(name)];
  if (value === undefined)
    throw new Error(`${variableOf(name)} is not set: only integration tests have servers (jest.config.cjs)`);
  return value;
}

function variableOf(name: string): string {
  return `LUNAS_TEST_${name}`;
}
