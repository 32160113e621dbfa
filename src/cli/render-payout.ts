import { payoutWorkflowId } from '../../workflows/ids';
import type { PayoutHistoryRow } from '../db/payouts/list-payouts';
import { describeAccount } from '../domain/banks';
import { formatRupiah } from '../domain/money';
import type { PayoutRecord } from '../services/payouts/show-payout';
import { describePayoutWait } from './describe-wait';
import { formatFields, formatTable } from './output';
import { followUpSections, ledgerRow, section } from './render-payment';

/** All details of a payout as text, by section. */
export function renderPayout(details: PayoutRecord): string {
  const { payout, steps, ledger, lines, bank } = details;
  const summary = formatFields({
    Payout: payout.id,
    Reference: payout.referenceId,
    'Workflow id': payoutWorkflowId(payout.id),
    Merchant: payout.merchantId,
    Status: payout.failureReason === null ? payout.status : `${payout.status}: ${payout.failureReason}`,
    Amount: `${formatRupiah(payout.amountRupiah)} by ${payout.rail}`,
    Fee: formatRupiah(payout.feeRupiah),
    Account: `${describeAccount(payout.bankCode, payout.lastFour)} (${payout.bankAccountId})`,
    'Requested by': payout.requesterName ?? payout.requestedBy,
    'Approval by': APPROVERS[payout.approvalKind],
    'Approved by': payout.approverName ?? payout.approvedBy,
    Requested: payout.requestedAt,
    Submitted: payout.submittedAt,
    Finished: payout.finishedAt,
    "Bank's reference": payout.bankReference,
    "Bank's status now": describeBank(bank),
  });
  const paid = lines.map(({ kind, count, rupiah }) => ({ KIND: kind, COUNT: count, AMOUNT: formatRupiah(rupiah) }));
  return [
    describePayoutWait(details),
    summary,
    section('Transitions', formatTable(steps.map(stepRow), 'none')),
    section('Ledger', formatTable(ledger.map(ledgerRow), 'no entries')),
    section('Pays', formatTable(paid, 'no lines: it was recovered')),
    ...followUpSections(details),
  ].join('\n\n');
}

function describeBank(bank: PayoutRecord['bank']): string {
  if ('error' in bank) return `not read: ${bank.error}`;
  switch (bank.outcome) {
    case 'found': {
      const reason = bank.reason === null ? '' : `: ${bank.reason}`;
      const account = bank.accountLastFour === null ? '' : ` to •••• ${bank.accountLastFour}`;
      return `${bank.status}${reason}, ${formatRupiah(bank.amountRupiah)}${account}`;
    }
    case 'not_found':
      return 'it does not know the payout';
    case 'indeterminate':
      return `indeterminate: ${bank.reason}`;
  }
}

const APPROVERS = {
  none: 'Lunas itself',
  second_user: 'a second member of the merchant',
  operator: 'an operator',
} as const;

function stepRow(step: PayoutHistoryRow) {
  return {
    VERSION: step.version,
    AT: step.occurredAt,
    TRANSITION: step.name,
    FROM: step.fromStatus,
    TO: step.toStatus,
    BY: step.actor,
    NOTE: step.note,
  };
}
