import { z } from 'zod';
import { formatRupiah, MAX_TOTAL_RUPIAH } from '../../domain/money';
import { listApprovalRules, type ApprovalRule } from '../../services/approvals/approval-rules';
import { approveRequest, rejectRequest, type ApprovalDependencies } from '../../services/approvals/approvals';
import { setApprovalLimit } from '../../services/approvals/set-approval-limit';
import { setApprovalRule } from '../../services/approvals/set-approval-rule';
import { listApprovals, type Approval } from '../../services/audit/list-approvals';
import { APPROVABLE } from '../../services/operations/all';
import { requireDone } from '../../services/operations/require-done';
import { withTemporal } from '../command-context';
import type { LunasCommand } from '../lunas-command';
import { limit, wholeNumber } from '../option-schemas';
import { formatTable, type CommandResult } from '../output';
import { receiverRules } from '../receiver-rules';
import { runOperation } from '../run-operation';

const MAX_ID = Number.MAX_SAFE_INTEGER;
const decision = z.object({ approvalId: wholeNumber(1, MAX_ID) });

export function defineApprovals(approvals: LunasCommand): void {
  approvals
    .command('list')
    .description('list the requests that wait for a decision, newest first')
    .option('--all', 'include executed, rejected, failed and expired requests')
    .option('--limit <n>', 'maximum number', '20')
    .databaseAction(z.object({ all: z.boolean().default(false), limit }), async ({ all, limit }, db) =>
      approvalsResult(await listApprovals(db, { onlyOpen: !all, limit }), 'No request waits for a second operator.'),
    );
  addApprove(approvals);
  addRules(approvals);
  approvals
    .command('reject <approval-id>')
    .description('reject a request of another operator, permanently')
    .examples('lunas approvals reject 7 --note "this is not our account"')
    .writeAction(decision, async ({ approvalId }, audit) => {
      const call = { path: { approvalId }, input: {} };
      const approval = requireDone(await runOperation(audit, rejectRequest, audit, call));
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

const rupiah = wholeNumber(0, MAX_ID).optional();
const ruleOptions = z.object({
  action: z.string(),
  item: rupiah,
  operatorDay: rupiah,
  merchantDay: rupiah,
  operatorDayCount: wholeNumber(0, 1_000_000).optional(),
});

function addRules(approvals: LunasCommand): void {
  approvals
    .command('rules')
    .description('what one operator may do alone in production: in one act, and in 24 hours')
    .databaseAction(z.object({}), async (_options, db) => {
      const rules = await listApprovalRules(db);
      return { json: { rules }, text: formatTable(rules.map(toRow), 'No action has a rule.') };
    });
  approvals
    .command('set-rule <action>')
    .description('set what one operator may do alone, by two operators; what is left out has no limit')
    .option('--item <rupiah>', 'the amount of one act; 0: it always needs a second operator')
    .option('--operator-day <rupiah>', 'the amount of all acts of one operator in 24 hours')
    .option('--merchant-day <rupiah>', 'the amount of all acts for one merchant in 24 hours')
    .option('--operator-day-count <n>', 'how many acts of one operator in 24 hours')
    .examples('lunas approvals set-rule payment.settle --item 5000000 --operator-day 25000000 --note "board, 3 March"')
    .writeAction(ruleOptions, async ({ action, ...options }, audit) => {
      const input = {
        itemRupiah: options.item,
        operatorDayRupiah: options.operatorDay,
        merchantDayRupiah: options.merchantDay,
        operatorDayCount: options.operatorDayCount,
      };
      const rule = requireDone(await runOperation(audit, setApprovalRule, audit, { path: { action }, input }));
      return { json: { rule }, text: `The rule of ${action} is set.` };
    });
}

function toRow({ action, itemRupiah, operatorDayRupiah, merchantDayRupiah, operatorDayCount }: ApprovalRule) {
  return {
    ACTION: action,
    'ONE ACT': itemRupiah === 0 ? 'two operators' : rupiahText(itemRupiah),
    'OPERATOR, 24 H': rupiahText(operatorDayRupiah),
    'MERCHANT, 24 H': rupiahText(merchantDayRupiah),
    'TIMES, 24 H': operatorDayCount,
  };
}

const rupiahText = (rupiah: number | null) => (rupiah === null ? null : formatRupiah(rupiah));

function addApprove(approvals: LunasCommand): void {
  approvals
    .command('approve <approval-id>')
    .description('approve a request of another operator, and execute it')
    .examples('lunas approvals list', 'lunas approvals approve 7 --note "compared with the contract"')
    .writeAction(decision, async ({ approvalId }, audit, context, environment) => {
      const { db, log } = audit;
      const dependencies: ApprovalDependencies = {
        db,
        log,
        environment,
        approvable: APPROVABLE,
        receiverRules: receiverRules(context, environment),
        loadSealer: () => context.sealer(db),
        withWorkflows: (work) => withTemporal(context, db, work),
      };
      const call = { path: { approvalId }, input: {} };
      const approval = requireDone(await runOperation(audit, approveRequest, dependencies, call));
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
