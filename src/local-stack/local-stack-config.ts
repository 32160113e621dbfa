import type { z } from 'zod';
import { environmentSchema, parseEnvironment, port, text, url } from '../config';

/** The variables that only the local stack, the sandbox and the tests read, with those of an installation. */
export const localStackSchema = environmentSchema.extend({
  TEMPORAL_PORT: port.default(7233).describe("Port of the local stack's Temporal server."),
  TEMPORAL_UI_PORT: port.default(8233).describe("Port of the local stack's Temporal Web UI."),
  TEMPORAL_CLI_PATH: text.optional().describe('The `temporal` binary to use. Default: found, downloaded or built.'),
  TEMPORAL_TEST_SERVER_PATH: text
    .optional()
    .describe('The time-skipping test server to use. Default: found, downloaded or built.'),
  POSTGRES_PORT: port.default(5433).describe("Port of the local stack's PostgreSQL."),
  SANDBOX_PORT: port.default(3001).describe('Port of the sandbox.'),
  SANDBOX_HOST: text
    .default('127.0.0.1')
    .describe('Address on which the sandbox listens. Its server key is public: open it only to trusted networks.'),
  SANDBOX_URL: url.optional().describe('URL of a sandbox that runs elsewhere. The local stack then starts none.'),
  XDG_CACHE_HOME: text
    .optional()
    .describe("Directory of caches: of Temporal's binaries, and of compiled code. Default: ~/.cache."),
});

export type LocalStackConfig = z.infer<typeof localStackSchema>;

/**
 * Reads the environment of the local stack, as `loadConfig` that of an installation.
 * @throws UserError that names each variable with an invalid value
 */
export function loadLocalStackConfig(environment: NodeJS.ProcessEnv = process.env): LocalStackConfig {
  return parseEnvironment(localStackSchema, environment);
}
