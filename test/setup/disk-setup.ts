import { publishServices } from './publish-services';
import { startTestServices } from './test-services';

/** Runs once before the slow tests, some of which fill a database with millions of rows. */
export default () => publishServices(() => startTestServices());
