import { onStopSignal } from '../../src/local-stack/stop-signals';
import { publishTestEnvironment, type TestEnvironment } from '../support/test-environment';
import { stopTestServices } from './test-services';

const INTERRUPTED = 130;

/** Starts the servers of a test run, and names them to the test files. */
export async function publishServices(start: () => Promise<TestEnvironment>): Promise<void> {
  onStopSignal(
    () => void stopTestServices().finally(() => process.exit(INTERRUPTED)),
    () => process.exit(INTERRUPTED),
  );
  try {
    publishTestEnvironment(await start());
  } catch (error) {
    await stopTestServices();
    throw error;
  }
}
