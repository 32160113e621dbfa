import { publishServices } from './publish-services';
import { startTestServices } from './test-services';

/** Runs once before the integration tests. */
export default () => publishServices(startTestServices);
