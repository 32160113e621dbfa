import { WorkflowIdConflictPolicy, WorkflowIdReusePolicy, type WorkflowHandle } from '@temporalio/client';
import type { bankAccount } from '../../workflows/bank-account';
import { bankAccountWorkflowId, PAYOUTS_TASK_QUEUE, SEARCH_ATTRIBUTES } from '../../workflows/messages';
import type { BankAccountInput, BankAccountResult } from '../domain/bank-account-inquiry';
import type { BoundedClient } from './bounded-client';

/** A bank responds within seconds; after this the inquiry goes on without its caller. */
const RESULT_TIMEOUT_MS = 20_000;

/** The name inquiries of merchants' bank accounts. */
export class BankAccountClient {
  constructor(private readonly client: BoundedClient) {}

  /** Starts the inquiry of an account, or joins the one that runs. */
  async start(input: BankAccountInput): Promise<WorkflowHandle<typeof bankAccount>> {
    return this.client.call(({ workflow }) =>
      workflow.start<typeof bankAccount>('bankAccount', {
        workflowId: bankAccountWorkflowId(input.bankAccountId),
        // An account is inquired again before it is reactivated.
        workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
        workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
        taskQueue: PAYOUTS_TASK_QUEUE,
        args: [input],
        staticSummary: 'name inquiry of a bank account',
        staticDetails: `Bank account ${input.bankAccountId}`,
        priority: { fairnessKey: input.merchantId },
        typedSearchAttributes: [
          { key: SEARCH_ATTRIBUTES.merchantId, value: input.merchantId },
          { key: SEARCH_ATTRIBUTES.needsAttention, value: false },
        ],
      }),
    );
  }

  /** As `start`, and waits for the result. @throws Error if there is none within 20 s */
  async inquire(input: BankAccountInput): Promise<BankAccountResult> {
    const handle = await this.start(input);
    return this.client.call(() => handle.result(), RESULT_TIMEOUT_MS);
  }
}
