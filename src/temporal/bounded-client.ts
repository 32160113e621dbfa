import { WorkflowNotFoundError, type Client, type WorkflowHandle } from '@temporalio/client';
import { mayLackWorker } from './grpc-errors';
import { NoWorkerResponse } from './missing-worker';

/** The API responds within 10 s. */
export const UPDATE_TIMEOUT_MS = 9_000;
export const CALL_TIMEOUT_MS = 5_000;

/** A Temporal client whose calls have a timeout each. */
export class BoundedClient {
  constructor(
    private readonly client: Client,
    private readonly deadlineAtMs = Infinity,
    private readonly inFlight = new Set<Promise<unknown>>(),
  ) {}

  /** A client for work whose caller receives no response after this timestamp. */
  withDeadline(deadlineAtMs: number): BoundedClient {
    return new BoundedClient(this.client, deadlineAtMs, this.inFlight);
  }

  async call<Result>(work: (client: Client) => Promise<Result>, timeoutMs = CALL_TIMEOUT_MS): Promise<Result> {
    const deadlineAtMs = Math.min(Date.now() + timeoutMs, this.deadlineAtMs);
    const result = this.client.connection.withDeadline(deadlineAtMs, () => work(this.client));
    this.inFlight.add(result);
    try {
      return await result;
    } finally {
      this.inFlight.delete(result);
    }
  }

  /**
   * A call that a worker of the task queue has to process.
   * @throws NoWorkerResponse if there is no response
   */
  async callWorker<Result>(
    taskQueue: string,
    work: (client: Client) => Promise<Result>,
    timeoutMs = CALL_TIMEOUT_MS,
  ): Promise<Result> {
    try {
      return await this.call(work, timeoutMs);
    } catch (error) {
      throw mayLackWorker(error) ? new NoWorkerResponse(taskQueue, error) : error;
    }
  }

  /** A query of a workflow. @returns undefined if Temporal has no such workflow */
  async queryWorkflow<Result>(
    taskQueue: string,
    workflowId: string,
    query: (handle: WorkflowHandle) => Promise<Result>,
  ): Promise<Result | undefined> {
    try {
      return await this.callWorker(taskQueue, ({ workflow }) => query(workflow.getHandle(workflowId)));
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return undefined;
      throw error;
    }
  }

  /** A call to a workflow. @returns undefined if Temporal has no such workflow */
  async callWorkflow<Result>(
    workflowId: string,
    work: (handle: WorkflowHandle) => Promise<Result>,
  ): Promise<Result | undefined> {
    try {
      return await this.call(({ workflow }) => work(workflow.getHandle(workflowId)));
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return undefined;
      throw error;
    }
  }

  /** Without a timeout: a page of the iteration may be requested much later. */
  list(query: string): ReturnType<Client['workflow']['list']> {
    return this.client.workflow.list({ query });
  }

  /**
   * After the calls in flight: the SDK's next attempt of a call would throw at a closed connection, and nothing catches
   * it.
   */
  async close(): Promise<void> {
    await Promise.allSettled(this.inFlight);
    await this.client.connection.close();
  }
}
