import { WorkflowIdConflictPolicy, type WorkflowHandle } from '@temporalio/client';
import type { bankAccount } from '../../workflows/bank-account';
import { bankAccountWorkflowId, PAYOUTS_TASK_QUEUE } from '../../workflows/ids';
import type { BankAccountInput, BankAccountResult } from '../domain/bank-account-inquiry';
import type { BoundedClient } from './bounded-client';
import { payoutsQueueOptions } from './workflow-start-options';

/** A bank responds within seconds; after this the inquiry goes on without its caller. */
const RESULT_TIMEOUT_MS = 20_000;

/** The name inquiries of merchants' bank accounts. */
export class BankAccountClient {
  constructor(private readonly client: BoundedClient) {}

  /** Starts the inquiry of an account, or joins the one that runs. */
  async start(input: BankAccountInput): Promise<WorkflowHandle<typeof bankAccount>> {
    return this.client.call(({ workflow }) =>
      workflow.start<typeof bankAccount>('bankAccount', {
        ...payoutsQueueOptions(input.merchantId),
        workflowId: bankAccountWorkflowId(input.bankAccountId),
        workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
        args: [input],
        staticSummary: 'name inquiry of a bank account',
        staticDetails: `Bank account ${input.bankAccountId}`,
      }),
    );
  }

  /**
   * Starts the inquiry, and waits for the result.
   * @throws Error if there is none within 20 s
   */
  async inquire(input: BankAccountInput): Promise<BankAccountResult> {
    const handle = await this.start(input);
    return this.client.callWorker(PAYOUTS_TASK_QUEUE, () => handle.result(), RESULT_TIMEOUT_MS);
  }
}
