import type { WorkflowDefinitionOptions } from '@temporalio/common';
import { setWorkflowOptions, workflowInfo } from '@temporalio/workflow';
import { bankAccount } from './bank-account';
import { bankStatus } from './bank-status';
import { payment } from './payment';
import { payout } from './payout';
import { webhookDelivery } from './webhook-delivery';
import { webhookPing } from './webhook-ping';

export { bankAccount } from './bank-account';
export { bankStatus } from './bank-status';
export { closeDays } from './close-days';
export { latePayment } from './late-payment';
export { payment } from './payment';
export { payout } from './payout';
export { reconcile } from './reconcile';
export { retention } from './retention';
export { requestScheduledPayouts } from './scheduled-payouts';
export { verifyAudit, verifyLedger, verifyNewAuditEntries } from './verifications';
export { webhookDelivery } from './webhook-delivery';
export { webhookPing } from './webhook-ping';

// On versioned workers these complete on the version on which they started. The other workflows move to the current
// version: they may wait for months, or start anew each hour (docs/decisions/0012-worker-versioning.md).
setWorkflowOptions(pinnedIfVersioned, payment);
setWorkflowOptions(pinnedIfVersioned, bankAccount);
setWorkflowOptions(pinnedIfVersioned, bankStatus);
setWorkflowOptions(pinnedIfVersioned, payout);
setWorkflowOptions(pinnedIfVersioned, webhookDelivery);
setWorkflowOptions(pinnedIfVersioned, webhookPing);

/** Temporal rejects the tasks of a worker without a version that names a behaviour. */
function pinnedIfVersioned(): WorkflowDefinitionOptions {
  return workflowInfo().currentDeploymentVersion?.deploymentName ? { versioningBehavior: 'PINNED' } : {};
}
