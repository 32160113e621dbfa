import type { Command } from 'commander';
import { z } from 'zod';
import { formatRupiah } from '../../domain/money';
import { RESOLVE_ACTIONS } from '../../domain/payment-actions';
import { listStuckRefunds, type StuckRefund } from '../../operator/list-stuck-refunds';
import { runPaymentAction } from '../payment-action';
import { defineAction, withExamples } from '../command-action';
import { joinOptions, note, oneOf, wholeNumber } from '../option-schemas';
import { formatTable } from '../output';
import { withDatabase } from '../command-context';
import type { Terminal } from '../terminal';

const MAX_REFUNDS_LISTED = 1_000;

const RESOLUTIONS = ['refunded', 'paid'] as const;

export function addRefundsCommand(program: Command, terminal: Terminal): void {
  const refunds = program.command('refunds').description('refunds that require an operator');
  addList(refunds, terminal);
  addRetry(refunds, terminal);
  addResolve(refunds, terminal);
}

function addList(refunds: Command, terminal: Terminal): void {
  const command = refunds
    .command('list')
    .description('list refunds that the provider rejected, or has not confirmed for a long time')
    .option('--limit <n>', 'maximum number', '20');
  const columns = {
    REFERENCE: (refund: StuckRefund) => refund.referenceId,
    PAYMENT: (refund: StuckRefund) => refund.paymentStatus,
    NUMBER: (refund: StuckRefund) => refund.number,
    REFUND: (refund: StuckRefund) => refund.status,
    AMOUNT: (refund: StuckRefund) => formatRupiah(refund.amountRupiah),
    SUBMITTED: (refund: StuckRefund) => refund.submittedAt,
    REASON: (refund: StuckRefund) => refund.failureReason,
  };
  defineAction(command, terminal, z.object({ limit: wholeNumber(1, MAX_REFUNDS_LISTED) }), ({ limit }, context) =>
    withDatabase(context, async (db) => {
      const refunds = await listStuckRefunds(db, limit);
      return { json: { refunds }, text: formatTable(refunds, columns, 'No refund requires an operator.') };
    }),
  );
}

function addRetry(refunds: Command, terminal: Terminal): void {
  const command = refunds
    .command('retry <payment>')
    .description('retry a rejected refund under a new key')
    .requiredOption('--note <text>', 'why, for the audit log');
  withExamples(command, 'lunas refunds retry LN0123456789ABCDEF --note "the acquirer had an outage"');
  defineAction(command, terminal, z.object({ payment: z.string(), note }), ({ payment, note }, context) =>
    runPaymentAction(context, 'retryRefund', payment, note),
  );
}

function addResolve(refunds: Command, terminal: Terminal): void {
  const command = refunds
    .command('resolve <payment>')
    .description('close a rejected refund: the customer has the money back, or the payment stays paid')
    .requiredOption('--as <outcome>', `${joinOptions(RESOLUTIONS)}; paid only if the provider has no refund`)
    .requiredOption('--note <text>', 'why, for the audit log');
  withExamples(
    command,
    'lunas refunds resolve LN0123456789ABCDEF --as refunded --note "bank transfer 4711"',
    'lunas refunds resolve LN0123456789ABCDEF --as paid --note "the customer keeps the goods"',
  );
  const input = z.object({ payment: z.string(), as: oneOf(RESOLUTIONS), note });
  defineAction(command, terminal, input, ({ payment, as, note }, context) =>
    runPaymentAction(context, RESOLVE_ACTIONS[as], payment, note),
  );
}
