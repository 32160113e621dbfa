import type { Command } from 'commander';
import { z } from 'zod';
import { formatRupiah } from '../../domain/money';
import { listStuckRefunds, type StuckRefund } from '../../operator/list-refunds';
import { act } from '../act-on-payment';
import { answering, withExamples } from '../answering';
import { listed, note, oneOf, wholeNumber } from '../inputs';
import { formatTable } from '../output';
import { withDatabase } from '../settings';
import type { Terminal } from '../terminal';

const MOST_REFUNDS = 1_000;

const RESOLUTIONS = ['refunded', 'paid'] as const;

export function addRefundsCommand(program: Command, terminal: Terminal): void {
  const refunds = program.command('refunds').description('refunds that need a person');
  addList(refunds, terminal);
  addRetry(refunds, terminal);
  addResolve(refunds, terminal);
}

function addList(refunds: Command, terminal: Terminal): void {
  const command = refunds
    .command('list')
    .description('show the refunds that the provider refused, or has not confirmed for a long time')
    .option('--limit <n>', 'how many', '20');
  const columns = {
    REFERENCE: (refund: StuckRefund) => refund.referenceId,
    PAYMENT: (refund: StuckRefund) => refund.paymentStatus,
    ROUND: (refund: StuckRefund) => refund.round,
    REFUND: (refund: StuckRefund) => refund.status,
    AMOUNT: (refund: StuckRefund) => formatRupiah(refund.amountRupiah),
    SUBMITTED: (refund: StuckRefund) => refund.submittedAt,
    REASON: (refund: StuckRefund) => refund.failureReason,
  };
  answering(command, terminal, z.object({ limit: wholeNumber(1, MOST_REFUNDS) }), ({ limit }, settings) =>
    withDatabase(settings, async (db) => {
      const refunds = await listStuckRefunds(db, limit);
      return { json: { refunds }, text: formatTable(refunds, columns, 'No refund needs a person.') };
    }),
  );
}

function addRetry(refunds: Command, terminal: Terminal): void {
  const command = refunds
    .command('retry <payment>')
    .description('have a refused refund tried once more, under a new key')
    .requiredOption('--note <text>', 'why, for the audit trail');
  withExamples(command, 'lunas refunds retry LN0123456789ABCDEF --note "the acquirer had an outage"');
  answering(command, terminal, z.object({ payment: z.string(), note }), ({ payment, note }, settings) =>
    act(settings, 'refund.retry', payment, note),
  );
}

function addResolve(refunds: Command, terminal: Terminal): void {
  const command = refunds
    .command('resolve <payment>')
    .description('end a refused refund: the customer has the money back, or the payment stays paid')
    .requiredOption('--as <outcome>', `${listed(RESOLUTIONS)}; paid only where the provider shows no refund`)
    .requiredOption('--note <text>', 'why, for the audit trail');
  withExamples(
    command,
    'lunas refunds resolve LN0123456789ABCDEF --as refunded --note "bank transfer 4711"',
    'lunas refunds resolve LN0123456789ABCDEF --as paid --note "the customer keeps the goods"',
  );
  const input = z.object({ payment: z.string(), as: oneOf(RESOLUTIONS), note });
  answering(command, terminal, input, ({ payment, as, note }, settings) =>
    act(settings, `refund.resolve_as_${as}`, payment, note),
  );
}
