import { z } from 'zod';
import type { Pool, Queryable } from '../../db/connection/pool';
import { inTransaction } from '../../db/connection/transaction';
import {
  actorText,
  operatorIdOf,
  requireOperator,
  type ApprovingOperator,
  type OperatorActor,
} from '../../domain/actor';
import { ConflictError, messageOf, UserError } from '../../errors';
import type { AuditDependencies } from '../audit/audit';
import { findApproval, type Approval } from '../audit/list-approvals';
import { IS_VALID, IS_WAITING } from '../audit/request-approval';
import type { IssueDependencies } from '../merchants/keys/create-key';
import { ofInstallation } from '../operations/of-installation';
import { Operation } from '../operations/operation';
import type { ApprovalExecution } from '../operations/operation-spec';
import { done, type Reasons, type Result } from '../operations/rejections';
import { requireDone } from '../operations/require-done';
import type { PaymentActionDependencies } from '../payments/actions/operator-action';
import type { PayoutDependencies } from '../payouts/payouts';
import type { SealingDependencies } from '../provider-accounts/provider-accounts';
import type { UrlDependencies } from '../webhooks/receiver-url';

/** What an approved act of the database needs. */
type DatabaseNeeds = SealingDependencies & IssueDependencies & UrlDependencies;

/** What an approved act of a workflow needs. */
export type WorkflowNeeds = PaymentActionDependencies & {
  readonly workflows: { readonly payouts: PayoutDependencies['workflows'] };
};

/** An operation that a second operator has to approve. */
interface Approvable<Needs> {
  readonly name: string;
  runApproved(needs: Needs, by: ApprovingOperator, note: string): Promise<Result<unknown, Reasons>>;
}

/** What an approval needs to be executed. */
export interface ApprovalDependencies extends DatabaseNeeds {
  readonly db: Pool;
  /** The operations, by what executes them. The list of all operations has these two, so it cannot be imported here. */
  readonly approvable: {
    readonly database: readonly Approvable<DatabaseNeeds>[];
    readonly workflow: readonly Approvable<WorkflowNeeds>[];
  };
  /** Works with the clients of the workflows. A command connects to Temporal only for an action of a workflow. */
  readonly withWorkflows: (work: (workflows: WorkflowNeeds['workflows']) => Promise<unknown>) => Promise<unknown>;
}

/** Longer than the execution of any action. */
const LEASE = "interval '2 minutes'";

/** A decision about a request that does not exist is in the audit log too, so `load` does not look for it. */
const ofRequest = {
  ...ofInstallation,
  path: z.object({ approvalId: z.int() }),
  input: z.object({}),
  target: ({ subject }: { readonly subject: number }) => String(subject),
} as const;

/**
 * Approves a request of another operator and executes it, once. An action in the database takes effect with its
 * approval, or neither does. An action of a payment or payout is executed in its workflow: if the process ends before
 * the outcome is recorded, the approval can be repeated after two minutes, until the request expires. `perform` throws
 * a NotFoundError if there is no such request. It throws a UserError if the operator requested it, if it is decided or
 * expired, or if the action is rejected.
 */
export const approveRequest = new Operation({
  name: 'approval.approve',
  ...ofRequest,
  load: (_needs: ApprovalDependencies, _scope, { approvalId }) => Promise.resolve(approvalId),
  async perform({ needs, by, subject: approvalId, note }) {
    const { action } = await findApproval(needs.db, approvalId);
    const decision = { approvalId, decision: 'approved', note } as const;
    const { database, workflow } = needs.approvable;
    const [inDatabase, inWorkflow] = [named(database, action), named(workflow, action)];
    if (inDatabase) await approveInDatabase(needs, requireOperator(by), decision, inDatabase);
    else if (inWorkflow) await approveInWorkflow(needs, requireOperator(by), decision, inWorkflow);
    else throw new Error(`Request ${approvalId} is for ${action}, which this version does not have`);
    return done(await findApproval(needs.db, approvalId));
  },
});

function named<Needs>(operations: readonly Approvable<Needs>[], action: string): Approvable<Needs> | undefined {
  return operations.find(({ name }) => name === action);
}

/** Rejects a request of another operator, permanently. What `perform` throws is that of `approveRequest`. */
export const rejectRequest = new Operation({
  name: 'approval.reject',
  ...ofRequest,
  load: (_needs: AuditDependencies, _scope, { approvalId }) => Promise.resolve(approvalId),
  perform: async ({ needs: { db }, by, subject: approvalId, note }) =>
    done(await decide(db, requireOperator(by), { approvalId, decision: 'rejected', note })),
});

interface Decision {
  readonly approvalId: number;
  readonly decision: 'approved' | 'rejected';
  readonly note: string | undefined;
}

/**
 * One statement decides, so a request is decided once. An approval whose lease ended, because its process did, is
 * taken over or rejected.
 */
async function decide(
  db: Queryable,
  actor: OperatorActor,
  { approvalId, decision, note }: Decision,
): Promise<Approval> {
  const { rows } = await db.query(
    `with decided as (
       update approvals set status = $2, decided_by = decider.id, decided_at = now(),
         leased_until = case when $2 = 'approved' then now() + ${LEASE} end
       from operators requester, operators decider
       where approvals.id = $1 and requester.id = requested_by and decider.id = $3
         and may_decide(approvals, decider, requester)
         and (${IS_WAITING}
           or status = 'approved' and leased_until < now() and ($2 = 'rejected' or ${IS_VALID}))
       returning approvals.id
     )
     insert into approval_decisions (approval_id, decision, decided_by, note)
     select id, $2, $3, $4 from decided returning id`,
    [approvalId, decision, operatorIdOf(actor), note],
  );
  const approval = await findApproval(db, approvalId);
  if (rows.length === 1) return approval;
  throw new ConflictError('not_allowed', `Request ${approvalId} ${whyNotDecided(approval)}`);
}

function whyNotDecided({ status, requestedBy, decidedBy }: Approval): string {
  if (status === 'pending') {
    const keys = 'The keys of both have to be a day old or approved, and neither of them may have created the other.';
    const logins = 'Each of them has a login of their own, with which the decider connects to PostgreSQL.';
    const seen = 'If one of them created the key of the other, its person has replaced the key.';
    return `is of ${requestedBy}: another operator has to decide. ${keys} ${logins} ${seen}`;
  }
  if (status === 'expired') return 'is expired: it has to be requested again.';
  if (status === 'approved') {
    const limit = `If it is expired, or the key of ${requestedBy} is not accepted any more, it can only be rejected.`;
    return `is being executed for ${decidedBy}. If it stays so, repeat this in two minutes. ${limit}`;
  }
  return `is ${status} already, by ${decidedBy}.`;
}

/** The workflow of the payment or payout executes it, outside the transactions of this process. */
async function approveInWorkflow(
  { db, log, withWorkflows }: ApprovalDependencies,
  actor: OperatorActor,
  decision: Decision,
  operation: Approvable<WorkflowNeeds>,
): Promise<void> {
  const approval = await decide(db, actor, decision);
  const executed = withWorkflows((workflows) => execute(operation, { db, log, workflows }, actor, approval));
  const failure = await failureOf(executed);
  const isRecorded = await recordExecution(db, approval.id, 'workflow', failure);
  if (failure) throw failure;
  if (isRecorded) return;
  const { status } = await findApproval(db, approval.id);
  throw new Error(`The action of request ${approval.id} was executed, but it was ${status} meanwhile.`);
}

/** Decision, action and outcome are one transaction. */
async function approveInDatabase(
  dependencies: ApprovalDependencies,
  actor: OperatorActor,
  decision: Decision,
  operation: Approvable<DatabaseNeeds>,
): Promise<void> {
  const failure = await inTransaction(dependencies.db, async (client) => {
    const approval = await decide(client, actor, decision);
    const failure = await failureOf(execute(operation, { ...dependencies, db: client }, actor, approval));
    if (await recordExecution(client, approval.id, 'database', failure)) return failure;
    throw new ConflictError('not_allowed', `Request ${approval.id} is expired: it has to be requested again.`);
  });
  if (failure) throw failure;
}

async function execute<Needs>(
  operation: Approvable<Needs>,
  needs: Needs,
  actor: OperatorActor,
  approval: Approval,
): Promise<void> {
  const requester = actorText({ kind: 'operator', name: approval.requestedBy });
  const note = `${approval.note} (requested by ${requester})`;
  requireDone(await operation.runApproved(needs, { ...actor, approval }, note));
}

/** The reason of a rejection; null after success. @throws every other error */
async function failureOf(work: Promise<unknown>): Promise<UserError | null> {
  try {
    await work;
    return null;
  } catch (error) {
    if (error instanceof UserError) return error;
    throw error;
  }
}

/** False if the request is not approved any more, or if an action in the database would end after it expired. */
async function recordExecution(
  db: Queryable,
  approvalId: number,
  execution: ApprovalExecution,
  failure: UserError | null,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `update approvals set status = case when $2::text is null then 'executed' else 'failed' end, failure_reason = $2,
       leased_until = null
     where id = $1 and status = 'approved'
       and ($2::text is not null or $3 = 'workflow' or expires_at > clock_timestamp())`,
    [approvalId, failure && messageOf(failure), execution],
  );
  return rowCount === 1;
}
