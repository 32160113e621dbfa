import { z } from 'zod';
import type { Queryable } from '../db/connection/pool';
import { ArchivedError, NotFoundError, OrderIdError, UserError } from '../errors';
import { showRequest } from '../services/payments/requests';
import type { StartedWorkflow } from '../temporal/workflow-records';
import { withTemporalCalls, type CommandContext } from './command-context';
import { printable } from './output';

/** The form of what Temporal is asked for: the id of a payment or its reference. */
const SOUGHT = z.union([z.guid(), z.string().regex(/^LN[0-9A-Z]+$/)]);

interface FoundWorkflow extends StartedWorkflow {
  readonly isWorkerMissing: boolean;
}

/**
 * Adds to an error what is known elsewhere of a payment that PostgreSQL does not have: the request that failed to
 * create it, and its workflow, which waits for a worker. Any other error is returned as it is.
 */
export async function explainUnstored(
  notFound: unknown,
  anyId: string,
  { db, context }: { readonly db: Queryable; readonly context: CommandContext },
): Promise<unknown> {
  const isKnown = notFound instanceof ArchivedError || notFound instanceof OrderIdError;
  if (!(notFound instanceof NotFoundError) || isKnown) return notFound;
  const request = await showRequest(db, anyId).catch(() => null);
  const sought = SOUGHT.safeParse(request?.paymentIds[0] ?? anyId);
  const workflow = sought.success ? await findWorkflow(context, sought.data).catch(() => null) : null;
  if (request === null && workflow === null) return notFound;
  const known = [request && describeRequest(request.request), workflow && describeWorkflow(workflow)];
  return new UserError([notFound.message, ...known.filter((sentence) => sentence !== null)].join(' '));
}

async function findWorkflow(context: CommandContext, idOrReference: string): Promise<FoundWorkflow | null> {
  const { listUnpolledTaskQueues } = await import('../temporal/task-queue-polls.js');
  const { WorkflowRecords } = await import('../temporal/workflow-records.js');
  const { PAYMENTS_TASK_QUEUE } = await import('../../workflows/ids.js');
  return withTemporalCalls(context, async (client) => {
    const [started, unpolled] = await Promise.all([
      new WorkflowRecords(client).findStarted(idOrReference),
      listUnpolledTaskQueues(client, false),
    ]);
    return (
      started && { ...started, isWorkerMissing: unpolled.some(({ taskQueue }) => taskQueue === PAYMENTS_TASK_QUEUE) }
    );
  });
}

type Request = Awaited<ReturnType<typeof showRequest>>['request'];

function describeRequest({ id, startedAt, method, path, status, errorDetail }: Request): string {
  const outcome = `${status ?? 'aborted'}${errorDetail === null ? '' : `: ${errorDetail}`}`;
  return printable(
    `Request ${id} of ${startedAt.toISOString()} was ${method} ${path}, ${outcome} (lunas requests show ${id}).`,
  );
}

function describeWorkflow({ workflowId, startedAt, state, isWorkerMissing }: FoundWorkflow): string {
  const since = `Workflow ${workflowId} was started at ${startedAt.toISOString()}`;
  if (state !== 'running') return `${since} and is ${state}: a recovery writes its row (lunas recover).`;
  return isWorkerMissing
    ? `${since} and waits: no worker polls lunas-payments (lunas doctor).`
    : `${since} and runs: repeat the command.`;
}
