import { publishServices } from './publish-services';
import { startPooledServices } from './test-services';

/** Runs once before `npm run test:pgbouncer`. */
export default () => publishServices(startPooledServices);
