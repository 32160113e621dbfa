import { setWorkflowOptions } from '@temporalio/workflow';
import { payment } from './payment';
import { webhookDelivery } from './webhook-delivery';

export { latePayment } from './late-payment';
export { payment } from './payment';
export { reconcile } from './reconcile';
export { retention } from './retention';
export { webhookDelivery } from './webhook-delivery';

// With Worker Versioning these complete on the version of the worker on which they started. The other workflows move to
// the current version: they may wait for months, or start anew each hour (docs/decisions/0012-worker-versioning.md).
setWorkflowOptions({ versioningBehavior: 'PINNED' }, payment);
setWorkflowOptions({ versioningBehavior: 'PINNED' }, webhookDelivery);
