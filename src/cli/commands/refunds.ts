import { z } from 'zod';
import { formatRupiah } from '../../domain/money';
import { listStuckRefunds } from '../../services/payments/list-stuck-refunds';
import type { LunasCommand } from '../lunas-command';
import { joinOptions, limit, note, oneOf } from '../option-schemas';
import { formatTable } from '../output';
import { addPaymentAction, runPaymentAction } from '../payment-action';

const RESOLUTIONS = ['refunded', 'paid'] as const;

export function defineRefunds(refunds: LunasCommand): void {
  refunds
    .command('list')
    .description('list refunds that the provider rejected, or has not confirmed for a long time')
    .option('--limit <n>', 'maximum number', '20')
    .databaseAction(z.object({ limit }), async ({ limit }, db) => {
      const refunds = await listStuckRefunds(db, limit);
      const rows = refunds.map((refund) => ({
        REFERENCE: refund.referenceId,
        PAYMENT: refund.paymentStatus,
        NUMBER: refund.number,
        REFUND: refund.status,
        AMOUNT: formatRupiah(refund.amountRupiah),
        SUBMITTED: refund.submittedAt,
        REASON: refund.failureReason,
      }));
      return { json: { refunds }, text: formatTable(rows, 'No refund requires an operator.') };
    });
  addPaymentAction(refunds, async () => (await import('../../services/payments/actions/retry-refund.js')).retryRefund, {
    name: 'retry',
    about: 'retry a rejected refund under a new key',
    example: 'lunas refunds retry LN0123456789ABCDEF --note "the acquirer had an outage"',
  });
  refunds
    .command('resolve <payment>')
    .description('close a rejected refund: the customer has the money back, or the payment stays paid')
    .requiredOption('--as <outcome>', `${joinOptions(RESOLUTIONS)}; paid only if the provider has no refund`)
    .requiredOption('--note <text>', 'why, for the audit log')
    .examples(
      'lunas refunds resolve LN0123456789ABCDEF --as refunded --note "bank transfer 4711"',
      'lunas refunds resolve LN0123456789ABCDEF --as paid --note "the customer keeps the goods"',
    )
    .writeAction(z.object({ payment: z.string(), as: oneOf(RESOLUTIONS), note }), async (input, audit, context) => {
      const { RESOLVE_REFUND } = await import('../../services/payments/actions/resolve-refund.js');
      return runPaymentAction(audit, context, RESOLVE_REFUND[input.as], input);
    });
}
