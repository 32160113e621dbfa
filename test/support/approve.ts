import { randomUUID } from 'node:crypto';
import type { OperatorActor } from '../../src/domain/actor';
import { approveRequest, rejectRequest, type ApprovalDependencies } from '../../src/services/approvals/approvals';
import type { AuditDependencies } from '../../src/services/audit/audit';
import type { Approval } from '../../src/services/audit/list-approvals';
import { APPROVABLE } from '../../src/services/operations/all';
import { requireDone } from '../../src/services/operations/require-done';

export type Executors = Omit<ApprovalDependencies, 'approvable'>;

/** Approves a request as an operator. @throws as the command */
export async function approve(
  executors: Executors,
  actor: OperatorActor,
  approvalId: number,
  note?: string,
): Promise<Approval> {
  const call = { path: { approvalId }, input: {}, formId: randomUUID(), note };
  return requireDone(await approveRequest.run({ ...executors, approvable: APPROVABLE }, actor, call));
}

/** Rejects a request as an operator. @throws as the command */
export async function reject(
  { db, log }: AuditDependencies,
  actor: OperatorActor,
  approvalId: number,
  note?: string,
): Promise<Approval> {
  const call = { path: { approvalId }, input: {}, formId: randomUUID(), note };
  return requireDone(await rejectRequest.run({ db, log }, actor, call));
}
