import type { PayloadCodec } from '@temporalio/common';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { createLogger } from '../../src/observability/logger';
import { installRuntime } from '../../src/worker/runtime';
import { SEARCH_ATTRIBUTES } from '../../workflows/messages';
import { testEnvironment } from './test-environment';

/** The host:port of the Temporal dev server that all test files share. */
export const temporalAddress = (): string => testEnvironment('TEMPORAL_ADDRESS');

/** The file of the bundled workflows, for `Worker.create({ workflowBundle: { codePath } })`. */
export const workflowBundlePath = (): string => testEnvironment('WORKFLOW_BUNDLE_PATH');

const START_ATTEMPTS = 12;
const KEYWORD = 2;

/** A server that skips time while a workflow's result is awaited. Tear it down in `afterAll`. */
export async function createTimeSkippingEnvironment(
  payloadCodecs: PayloadCodec[] = [],
): Promise<TestWorkflowEnvironment> {
  installRuntime(createLogger('test', process.env.LOG_LEVEL ?? 'silent'));
  for (let attempt = 1; ; attempt += 1) {
    try {
      const environment = await TestWorkflowEnvironment.createTimeSkipping({
        client: { dataConverter: { payloadCodecs } },
        server: { executable: { type: 'existing-path', path: testEnvironment('TEST_SERVER_PATH') } },
      });
      // This server can add search attributes, but cannot list them, so the worker cannot register them.
      await environment.connection.operatorService.addSearchAttributes({
        namespace: 'default',
        searchAttributes: Object.fromEntries(Object.values(SEARCH_ATTRIBUTES).map(({ name }) => [name, KEYWORD])),
      });
      return environment;
    } catch (error) {
      // The SDK gives the server's JVM 5 s to listen, which a busy machine can miss.
      if (attempt === START_ATTEMPTS) throw error;
    }
  }
}
