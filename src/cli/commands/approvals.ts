import { z } from 'zod';
import { formatRupiah, MAX_TOTAL_RUPIAH } from '../../domain/money';
import { approve, reject, type ApprovalDependencies } from '../../services/approvals/approvals';
import { setApprovalLimit } from '../../services/approvals/set-approval-limit';
import { listApprovals, type Approval } from '../../services/audit/list-approvals';
import { requireDone } from '../../services/operations/require-done';
import { withTemporal } from '../command-context';
import type { LunasCommand } from '../lunas-command';
import { limit, wholeNumber } from '../option-schemas';
import { formatTable, type CommandResult } from '../output';
import { runOperation } from '../run-operation';

const MAX_ID = Number.MAX_SAFE_INTEGER;
const decision = z.object({ approvalId: wholeNumber(1, MAX_ID) });

export function addApprovalsCommand(program: LunasCommand): void {
  const approvals = program
    .command('approvals')
    .description('actions that a second operator has to approve in production');
  approvals
    .command('list')
    .description('list the requests that wait for a decision, newest first')
    .option('--all', 'include executed, rejected, failed and expired requests')
    .option('--limit <n>', 'maximum number', '20')
    .databaseAction(z.object({ all: z.boolean().default(false), limit }), async ({ all, limit }, db) =>
      approvalsResult(await listApprovals(db, { onlyOpen: !all, limit }), 'No request waits for a second operator.'),
    );
  addApprove(approvals);
  approvals
    .command('reject <approval-id>')
    .description('reject a request of another operator, permanently')
    .examples('lunas approvals reject 7 --note "this is not our account"')
    .writeAction(decision, async ({ approvalId }, audit) => {
      const approval = await reject(audit, audit.actor, approvalId, audit.note);
      return { json: { approval }, text: `Request ${approvalId} is ${approval.status}.` };
    });
  approvals
    .command('set-limit <rupiah>')
    .description('settlements and manual refunds of late payments above it need a second operator (initially 5000000)')
    .examples('lunas approvals set-limit 2000000 --note "board meeting of 3 March"')
    .writeAction(z.object({ rupiah: wholeNumber(0, MAX_TOTAL_RUPIAH) }), async ({ rupiah: limitRupiah }, audit) => {
      requireDone(await runOperation(audit, setApprovalLimit, audit, { path: {}, input: { limitRupiah } }));
      return { json: { limitRupiah }, text: `The limit is ${formatRupiah(limitRupiah)}.` };
    });
}

function addApprove(approvals: LunasCommand): void {
  approvals
    .command('approve <approval-id>')
    .description('approve a request of another operator, and execute it')
    .examples('lunas approvals list', 'lunas approvals approve 7 --note "compared with the contract"')
    .writeAction(decision, async ({ approvalId }, { db, log, actor, note }, context) => {
      const dependencies: ApprovalDependencies = { db, log, withWorkflows: (work) => withTemporal(context, db, work) };
      const approval = await approve(dependencies, actor, approvalId, note);
      return { json: { approval }, text: `${approval.action} of ${describe(approval)} is ${approval.status}.` };
    });
}

function describe({ target, amountRupiah }: Approval): string {
  return amountRupiah === null ? target : `${target} (${formatRupiah(amountRupiah)})`;
}

function approvalsResult(approvals: readonly Approval[], otherwise: string): CommandResult {
  const rows = approvals.map(({ parameters, ...approval }) => ({
    ID: approval.id,
    ACTION: approval.action,
    TARGET: approval.target,
    AMOUNT: approval.amountRupiah === null ? null : formatRupiah(approval.amountRupiah),
    PARAMETERS: JSON.stringify(parameters),
    'REQUESTED BY': approval.requestedBy,
    NOTE: approval.note,
    EXPIRES: approval.expiresAt,
    STATUS: approval.status,
    'DECIDED BY': approval.decidedBy,
    REASON: approval.failureReason,
  }));
  return { json: { approvals }, text: formatTable(rows, otherwise) };
}
