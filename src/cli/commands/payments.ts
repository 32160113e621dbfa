import type { Command } from 'commander';
import { z } from 'zod';
import type { PaymentReport } from '../../../workflows/messages';
import type { PaymentRow } from '../../db/reads/payment-row';
import { formatRupiah } from '../../domain/money';
import { PAYMENT_STATUSES } from '../../domain/payment-transitions';
import { listPayments } from '../../operator/list-payments';
import { showPayment } from '../../operator/show-payment';
import { answering, withExamples } from '../answering';
import { id, listed, oneOf, wholeNumber } from '../inputs';
import { formatTable } from '../output';
import { paymentText } from '../payment-text';
import { type Settings, withDatabase } from '../settings';
import type { Terminal } from '../terminal';

const MOST_PAYMENTS = 1_000;

export function addPaymentsCommand(program: Command, terminal: Terminal): void {
  const payments = program.command('payments').description('what became of each payment');
  addShow(payments, terminal);
  addList(payments, terminal);
}

function addShow(payments: Command, terminal: Terminal): void {
  const command = payments
    .command('show <payment>')
    .description(
      'a payment by its id or reference_id: row, transitions, ledger, deliveries, and what its workflow says',
    );
  answering(command, terminal, z.object({ payment: z.string() }), ({ payment }, settings) =>
    withDatabase(settings, async (db) => {
      const details = await showPayment(db, (paymentId) => askStatus(settings, paymentId), payment);
      return { json: { ...details }, text: paymentText(details) };
    }),
  );
}

function addList(payments: Command, terminal: Terminal): void {
  const command = payments
    .command('list')
    .description('show the newest payments')
    .option('--merchant <id>', 'only those of one merchant')
    .option('--status <status>', `only those that are ${listed(PAYMENT_STATUSES)}`)
    .option('--limit <n>', 'how many', '20');
  withExamples(
    command,
    'lunas payments list --status refund_failed',
    'lunas payments list --merchant MERCHANT_ID --json',
  );
  const input = z.object({
    merchant: id.optional(),
    status: oneOf(PAYMENT_STATUSES).optional(),
    limit: wholeNumber(1, MOST_PAYMENTS),
  });
  const columns = {
    REFERENCE: (payment: PaymentRow) => payment.referenceId,
    STATUS: (payment: PaymentRow) => payment.status,
    TOTAL: (payment: PaymentRow) => formatRupiah(payment.totalRupiah),
    NET: (payment: PaymentRow) => formatRupiah(payment.netRupiah),
    PROVIDER: (payment: PaymentRow) => payment.provider,
    CREATED: (payment: PaymentRow) => payment.createdAt,
    MERCHANT: (payment: PaymentRow) => payment.merchantId,
    "MERCHANT'S REFERENCE": (payment: PaymentRow) => payment.merchantReferenceId,
  };
  answering(command, terminal, input, ({ merchant, status, limit }, settings) =>
    withDatabase(settings, async (db) => {
      const list = await listPayments(db, { merchantId: merchant, status, limit });
      return { json: { payments: list }, text: formatTable(list, columns, 'No payments.') };
    }),
  );
}

async function askStatus(settings: Settings, paymentId: string): Promise<PaymentReport | undefined> {
  const target = await settings.temporal();
  const { connectClient } = await import('../../engine/connection.js');
  const { PaymentsEngine } = await import('../../engine/payments-engine.js');
  const engine = new PaymentsEngine(connectClient(target));
  try {
    return await engine.askStatus(paymentId);
  } finally {
    await engine.close();
  }
}
