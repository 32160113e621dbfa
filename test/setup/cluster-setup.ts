import { temporalAddress } from '../support/temporal';
import { publishServices } from './publish-services';
import { startClusterServices } from './test-services';

/** Runs once before `npm run test:cluster`. `lunas up` uses the cluster too. */
export default async function clusterSetup(): Promise<void> {
  await publishServices(startClusterServices);
  process.env.TEMPORAL_ADDRESS = temporalAddress();
}
