import { onStopSignal } from '../../src/local-stack/stop-signals';
import { publishTestEnvironment } from '../support/test-environment';
import { startTestServices, stopTestServices } from './test-services';

const INTERRUPTED = 130;

/** Runs once before the integration tests. */
export default async function globalSetup(): Promise<void> {
  onStopSignal(
    () => void stopTestServices().finally(() => process.exit(INTERRUPTED)),
    () => process.exit(INTERRUPTED),
  );
  try {
    publishTestEnvironment(await startTestServices());
  } catch (error) {
    await stopTestServices();
    throw error;
  }
}
