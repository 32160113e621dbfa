import type { WorkflowNeeds } from '../../src/services/approvals/approvals';

const forbidden = () => Promise.reject(new Error('Temporal was called'));

/** The clients of workflows that no act may reach. */
export const NO_WORKFLOWS = {
  request: forbidden,
  signalProviderUpdate: forbidden,
  withDeadline(): never {
    throw new Error('Temporal was called');
  },
  records: { describe: forbidden },
  resumePayment: forbidden,
  restartPayment: forbidden,
  payouts: { request: forbidden, perform: forbidden, findRequest: forbidden },
} as const satisfies WorkflowNeeds['workflows'];
