import type { Command } from 'commander';
import { z } from 'zod';
import type { PaymentRow } from '../../db/queries/payment-row';
import { formatRupiah } from '../../domain/money';
import { PAYMENT_STATUSES } from '../../domain/payment-transitions';
import { listPayments } from '../../operator/list-payments';
import { listSettleable, type Settlement, settlePayments } from '../../operator/settle-payments';
import { showPayment } from '../../operator/show-payment';
import { runPaymentAction } from '../payment-action';
import { commandOperator } from '../operator-identity';
import { defineAction, withExamples } from '../command-action';
import { id, timestamp, joinOptions, note, oneOf, wholeNumber } from '../option-schemas';
import { type CommandResult, formatTable } from '../output';
import { renderPayment } from '../render-payment';
import { withDatabase, withTemporal } from '../command-context';
import type { Terminal } from '../terminal';

const MAX_PAYMENTS = 1_000;

export function addPaymentsCommand(program: Command, terminal: Terminal): void {
  const payments = program.command('payments').description('status and history of payments');
  addShow(payments, terminal);
  addList(payments, terminal);
  addSettle(payments, terminal);
  addFail(payments, terminal);
}

function addShow(payments: Command, terminal: Terminal): void {
  const command = payments
    .command('show <payment>')
    .description(
      'show a payment by its id or reference_id: row, transitions, ledger, refunds, operator actions, workflow status',
    );
  defineAction(command, terminal, z.object({ payment: z.string() }), ({ payment }, context) =>
    withDatabase(context, async (db) => {
      const queryStatus = (paymentId: string) => withTemporal(context, (workflows) => workflows.queryStatus(paymentId));
      const details = await showPayment(db, queryStatus, payment);
      return { json: { ...details }, text: renderPayment(details) };
    }),
  );
}

function addList(payments: Command, terminal: Terminal): void {
  const command = payments
    .command('list')
    .description('list the newest payments')
    .option('--merchant <id>', 'only payments of one merchant')
    .option('--status <status>', `only payments with this status: ${joinOptions(PAYMENT_STATUSES)}`)
    .option('--waiting-for-settlement', 'only payments with manual settlement whose delay is over, for `settle`')
    .option('--limit <n>', 'maximum number', '20');
  withExamples(
    command,
    'lunas payments list --status refund_failed',
    'lunas payments list --waiting-for-settlement',
    'lunas payments list --merchant MERCHANT_ID --json',
  );
  const input = z.object({
    merchant: id.optional(),
    status: oneOf(PAYMENT_STATUSES).optional(),
    waitingForSettlement: z.boolean().default(false),
    limit: wholeNumber(1, MAX_PAYMENTS),
  });
  const columns = {
    REFERENCE: (payment: PaymentRow) => payment.referenceId,
    STATUS: (payment: PaymentRow) => payment.status,
    TOTAL: (payment: PaymentRow) => formatRupiah(payment.totalRupiah),
    NET: (payment: PaymentRow) => formatRupiah(payment.netRupiah),
    PROVIDER: (payment: PaymentRow) => payment.provider,
    SETTLEMENT: settlementOf,
    CREATED: (payment: PaymentRow) => payment.createdAt,
    MERCHANT: (payment: PaymentRow) => payment.merchantId,
    "MERCHANT'S REFERENCE": (payment: PaymentRow) => payment.merchantReferenceId,
  };
  defineAction(command, terminal, input, ({ merchant, status, waitingForSettlement, limit }, context) =>
    withDatabase(context, async (db) => {
      const filter = { merchantId: merchant, status, waitsForSettlement: waitingForSettlement, limit };
      const list = await listPayments(db, filter);
      return { json: { payments: list }, text: formatTable(list, columns, 'No payments.') };
    }),
  );
}

function addSettle(payments: Command, terminal: Terminal): void {
  const command = payments
    .command('settle [payment...]')
    .description('settle payments with manual settlement whose delay is over')
    .option('--merchant <id>', 'all payments of one merchant')
    .option('--until <timestamp>', "the merchant's payments whose delay was over by then")
    .option('--note <text>', 'why, for the audit log');
  withExamples(
    command,
    'lunas payments settle LN0123456789ABCDEF --note "bank statement 31 January"',
    'lunas payments settle --merchant MERCHANT_ID --until 2026-01-31T17:00:00Z',
  );
  const input = z
    .object({
      payment: z.array(z.string()),
      merchant: id.optional(),
      until: timestamp.optional(),
      note: note.optional(),
    })
    .refine(
      ({ payment, merchant, until }) =>
        payment.length > 0 ? !merchant && !until : merchant !== undefined && until !== undefined,
      { error: 'takes either payments, or --merchant and --until' },
    );
  defineAction(command, terminal, input, ({ payment, merchant, until, note }, context) =>
    withDatabase(context, async (db) => {
      const selected = merchant && until ? await listSettleable(db, merchant, until) : payment;
      return settlementResult(
        await withTemporal(context, (workflows) =>
          settlePayments({ db, workflows, by: commandOperator() }, selected, note),
        ),
      );
    }),
  );
}

function addFail(payments: Command, terminal: Terminal): void {
  const command = payments
    .command('fail <payment>')
    .description(
      'fail a created or pending payment that no rule can close; rejected if the provider reports pending or paid',
    )
    .requiredOption('--note <text>', 'why, for the audit log');
  withExamples(command, 'lunas payments fail LN0123456789ABCDEF --note "the acquirer has no such order, ticket 4711"');
  defineAction(command, terminal, z.object({ payment: z.string(), note }), ({ payment, note }, context) =>
    runPaymentAction(context, 'fail', payment, note),
  );
}

function settlementResult(settlements: readonly Settlement[]): CommandResult {
  const columns = {
    PAYMENT: (settlement: Settlement) => settlement.payment,
    OUTCOME: (settlement: Settlement) => settlement.outcome,
    REASON: (settlement: Settlement) => settlement.reason,
  };
  const unsettled = settlements.filter(({ outcome }) => outcome !== 'settled').length;
  return {
    json: { settlements },
    text: formatTable(settlements, columns, 'No payment waits for its settlement.'),
    ...(unsettled > 0 && { failure: `${unsettled} of ${settlements.length} were not settled.` }),
  };
}

/** When and how the net amount of a paid payment is settled. */
function settlementOf({ status, settlementKind, settlementDueAt }: PaymentRow): string | null {
  if (status !== 'paid' || settlementDueAt === null) return null;
  const isDue = settlementDueAt.getTime() <= Date.now();
  if (settlementKind === 'manual' && isDue) return 'waits for `settle`';
  return `${settlementKind}, due ${settlementDueAt.toISOString()}`;
}
