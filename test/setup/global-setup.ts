import { onStopSignal } from '../../src/embedded/stop-signals';
import { publishAddresses } from '../support/addresses';
import { startTestServices, stopTestServices } from './test-services';

const INTERRUPTED = 130;

/** Runs once, before the test processes. */
export default async function globalSetup(): Promise<void> {
  onStopSignal(
    () => void stopTestServices().finally(() => process.exit(INTERRUPTED)),
    () => process.exit(INTERRUPTED),
  );
  try {
    publishAddresses(await startTestServices());
  } catch (error) {
    await stopTestServices();
    throw error;
  }
}
