import type { Pool, Queryable } from '../../db/connection/pool';
import { inTransaction } from '../../db/connection/transaction';
import { actorText, operatorIdOf, type OperatorActor } from '../../domain/actor';
import { DeclaredAction } from '../../domain/declared-action';
import { ConflictError, messageOf, UserError } from '../../errors';
import { withAudit, type AuditDependencies } from '../audit/audit';
import { findApproval, type Approval } from '../audit/list-approvals';
import { IS_VALID, IS_WAITING } from '../audit/request-approval';
import { DATABASE_APPROVALS, WORKFLOW_APPROVALS, type DatabaseNeeds, type WorkflowNeeds } from '../operations/all';
import type { ApprovalExecution } from '../operations/operation-spec';
import type { Reasons } from '../operations/rejections';
import { requireDone } from '../operations/require-done';

/** What an approval needs to be executed. */
export interface ApprovalDependencies extends DatabaseNeeds {
  readonly db: Pool;
  /** Works with the clients of the workflows. A command connects to Temporal only for an action of a workflow. */
  readonly withWorkflows: (work: (workflows: WorkflowNeeds['workflows']) => Promise<unknown>) => Promise<unknown>;
}

/** Longer than the execution of any action. */
const LEASE = "interval '2 minutes'";

export const APPROVE = new DeclaredAction('approval.approve');

/**
 * Approves a request of another operator and executes it, once. An action in the database takes effect with its
 * approval, or neither does. An action of a payment or payout is executed in its workflow: if the process ends before
 * the outcome is recorded, the approval can be repeated after two minutes, until the request expires.
 * @throws NotFoundError if there is no such request
 * @throws UserError if the operator requested it, if it is decided or expired, or if the action is rejected
 */
export async function approve(
  dependencies: ApprovalDependencies,
  actor: OperatorActor,
  approvalId: number,
  note?: string,
): Promise<Approval> {
  const { db } = dependencies;
  return withAudit(dependencies, actor, { action: APPROVE, target: String(approvalId), note }, async () => {
    const requested = await findApproval(db, approvalId);
    const decision = { approvalId, decision: 'approved', note } as const;
    await approveRequested(dependencies, actor, requested, decision);
    return findApproval(db, approvalId);
  });
}

function approveRequested(
  dependencies: ApprovalDependencies,
  actor: OperatorActor,
  requested: Approval,
  decision: Decision,
): Promise<void> {
  const inDatabase = DATABASE_APPROVALS.find(({ name }) => name === requested.action);
  if (inDatabase !== undefined) {
    return approveInDatabase(dependencies, actor, decision, async (needs, executor, approval) =>
      requireDone<unknown, Reasons>(await inDatabase.runApproved(needs, { ...executor, approval }, noteOf(approval))),
    );
  }
  const inWorkflow = WORKFLOW_APPROVALS.find(({ name }) => name === requested.action);
  if (inWorkflow !== undefined) {
    return approveInWorkflow(dependencies, actor, decision, async (needs, executor, approval) =>
      requireDone<unknown, Reasons>(await inWorkflow.runApproved(needs, { ...executor, approval }, noteOf(approval))),
    );
  }
  throw new Error(`Request ${requested.id} is for ${requested.action}, which this version does not have`);
}

export const REJECT = new DeclaredAction('approval.reject');

/** Rejects a request of another operator, permanently. Errors: as for `approve`. */
export async function reject(
  dependencies: AuditDependencies,
  actor: OperatorActor,
  approvalId: number,
  note?: string,
): Promise<Approval> {
  return withAudit(dependencies, actor, { action: REJECT, target: String(approvalId), note }, () =>
    decide(dependencies.db, actor, { approvalId, decision: 'rejected', note }),
  );
}

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
  execute: (needs: WorkflowNeeds, executor: OperatorActor, approval: Approval) => Promise<unknown>,
): Promise<void> {
  const approval = await decide(db, actor, decision);
  const executed = withWorkflows((workflows) => execute({ db, log, workflows }, { ...actor, approval }, approval));
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
  execute: (needs: DatabaseNeeds, executor: OperatorActor, approval: Approval) => Promise<unknown>,
): Promise<void> {
  const failure = await inTransaction(dependencies.db, async (client) => {
    const approval = await decide(client, actor, decision);
    const failure = await failureOf(execute({ ...dependencies, db: client }, { ...actor, approval }, approval));
    if (await recordExecution(client, approval.id, 'database', failure)) return failure;
    throw new ConflictError('not_allowed', `Request ${approval.id} is expired: it has to be requested again.`);
  });
  if (failure) throw failure;
}

function noteOf({ note, requestedBy }: Approval): string {
  return `${note} (requested by ${actorText({ kind: 'operator', name: requestedBy })})`;
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
