import { z } from 'zod';
import type { Queryable } from '../../db/connection/pool';
import { requireMerchant } from '../../db/merchants/require-merchant';
import type { PaymentRow } from '../../db/payments/payment-row';
import { formatRupiah, MAX_TOTAL_RUPIAH } from '../../domain/money';
import { PAYMENT_STATUSES } from '../../domain/payment-transitions';
import type { ActionOutcome } from '../../services/payments/actions/perform-action';
import { listPaymentsOfAnyId } from '../../services/payments/find-payment';
import { listOverduePayments, listPayments, listPaymentsOfAmount } from '../../services/payments/list-payments';
import { MAX_SEARCH_CHARACTERS, searchPayments } from '../../services/payments/search-payments';
import { showPayment } from '../../services/payments/show-payment';
import { withTemporal } from '../command-context';
import type { LunasCommand } from '../lunas-command';
import { id, isPeriod, joinOptions, limit, note, oneOf, timestamp, wholeNumber } from '../option-schemas';
import { formatTable, printable, type CommandResult } from '../output';
import { addPaymentAction } from '../payment-action';
import { explainOutcome, outcomeRow } from '../render-outcome';
import { renderPayment } from '../render-payment';
import { explainUnstored } from '../unstored-payment';

export function definePayments(payments: LunasCommand): void {
  addShow(payments);
  addList(payments);
  addSettle(payments);
  addPaymentAction(
    payments,
    async () => (await import('../../services/payments/actions/fail-payment.js')).failPayment,
    {
      name: 'fail',
      about:
        'fail a created or pending payment that no rule can close; rejected if the provider reports pending or paid',
      example: 'lunas payments fail LN0123456789ABCDEF --note "the acquirer has no such order, ticket 4711"',
    },
  );
  addPaymentAction(
    payments,
    async () => (await import('../../services/payments/actions/cancel-payment.js')).cancelPayment,
    {
      name: 'cancel',
      about: 'cancel a pending payment at the provider, or a refund that is held',
      example: 'lunas payments cancel LN0123456789ABCDEF --note "fraud, case 4711"',
    },
  );
  addPaymentAction(
    payments,
    async () => (await import('../../services/payments/actions/refund-payment.js')).refundPayment,
    {
      name: 'refund',
      about: 'refund the customer of a paid payment, also if its merchant is suspended or on hold',
      example: 'lunas payments refund LN0123456789ABCDEF --note "the shop is closed, case 4711"',
    },
  );
}

function addShow(payments: LunasCommand): void {
  payments
    .command('show <payment>')
    .description(
      "show a payment by its id, its reference_id, the merchant's order id, or the X-Request-Id of a request that " +
        'created or changed it: what it waits for, row, transitions, ledger, refunds, operator actions, workflow; ' +
        'if there are several, list them',
    )
    .examples('lunas payments show LN0123456789ABCDEF', 'lunas payments show ORDER-1042')
    .databaseAction(z.object({ payment: z.string() }), async ({ payment: anyId }, db, context) => {
      const found = await listPaymentsOfAnyId(db, anyId).catch(async (error: unknown) => {
        throw await explainUnstored(error, anyId, { db, context });
      });
      if (found.length > 1) return ambiguousResult(anyId, found);
      const readRun = (paymentId: string) => withTemporal(context, db, (workflows) => workflows.readRun(paymentId));
      const details = await showPayment(db, readRun, anyId);
      return { json: { ...details }, text: renderPayment(details) };
    });
}

/** The reference is what the command is repeated with. */
function ambiguousResult(anyId: string, payments: readonly PaymentRow[]): CommandResult {
  const rows = payments.map((payment) => ({
    REFERENCE: payment.referenceId,
    STATUS: payment.status,
    TOTAL: formatRupiah(payment.totalRupiah),
    CREATED: payment.createdAt,
    MERCHANT: payment.merchantId,
  }));
  const text = `Several payments have the id ${printable(anyId)}. Repeat the command with the REFERENCE of one:`;
  return { json: { payments }, text: `${text}\n\n${formatTable(rows, '')}` };
}

const searchText = z
  .string()
  .trim()
  .min(1, { error: 'must not be empty' })
  .max(MAX_SEARCH_CHARACTERS, { error: `must have at most ${MAX_SEARCH_CHARACTERS} characters` });

const listInput = z
  .object({
    merchant: id.optional(),
    status: oneOf(PAYMENT_STATUSES).optional(),
    reference: z.string().optional(),
    from: timestamp.optional(),
    to: timestamp.optional(),
    amount: wholeNumber(1, MAX_TOTAL_RUPIAH).optional(),
    search: searchText.optional(),
    waitingForSettlement: z.boolean().default(false),
    overdue: z.boolean().default(false),
    limit,
  })
  .refine(({ amount, merchant, reference }) => amount === undefined || (merchant ?? reference) !== undefined, {
    path: ['amount'],
    error: 'needs --merchant or --reference',
  })
  .refine(({ amount, waitingForSettlement }) => amount === undefined || !waitingForSettlement, {
    error: 'takes either --amount or --waiting-for-settlement',
  })
  .refine(({ search, merchant }) => search === undefined || merchant !== undefined, {
    path: ['search'],
    error: 'needs --merchant',
  })
  .refine((input) => input.search === undefined || BESIDE_SEARCH.every((name) => !input[name]), {
    path: ['search'],
    error: 'takes only --merchant and --limit',
  })
  .refine(({ from, to }) => isPeriod(from, to), { path: ['from'], error: 'must not be after --to' })
  .refine((input) => !input.overdue || OTHER_FILTERS.every((name) => !input[name]), {
    path: ['overdue'],
    error: 'takes only --merchant, --status and --limit: it follows the timers',
  });

type ListInput = z.output<typeof listInput>;

const BESIDE_SEARCH = ['status', 'reference', 'from', 'to', 'amount', 'waitingForSettlement', 'overdue'] as const;
const OTHER_FILTERS = ['reference', 'from', 'to', 'amount', 'search', 'waitingForSettlement'] as const;

function addList(payments: LunasCommand): void {
  payments
    .command('list')
    .description('list the newest payments, or those that are overdue the longest')
    .option('--merchant <id>', 'only payments of one merchant')
    .option('--status <status>', `only payments with this status: ${joinOptions(PAYMENT_STATUSES)}`)
    .option('--reference <order-id>', "only payments with this order id of the merchant's own")
    .option('--from <timestamp>', 'only payments created since then')
    .option('--to <timestamp>', 'only payments created until then')
    .option('--amount <rupiah>', 'only payments with this total; with --merchant or --reference')
    .option('--search <text>', 'the beginning of an order id or a reference, in any case, or a total; with --merchant')
    .option('--waiting-for-settlement', 'only payments with manual settlement whose delay is over, for `settle`')
    .option('--overdue', 'only payments that should have moved on, the longest overdue first; none that are on hold')
    .option('--limit <n>', 'maximum number', '20')
    .examples(
      'lunas payments list --overdue',
      'lunas payments list --status refund_failed',
      'lunas payments list --reference ORDER-1042',
      'lunas payments list --merchant MERCHANT_ID --search meja-7',
      'lunas payments list --merchant MERCHANT_ID --amount 137250 --from 2026-01-31T00:00:00+07:00 --json',
    )
    .databaseAction(listInput, async (input, db) => {
      if (input.merchant !== undefined) await requireMerchant(db, input.merchant);
      const { payments: list, searchedTo } = await findListed(db, input);
      const text = formatTable(list.map(paymentRow), 'No payments.');
      return { json: { payments: list, searchedTo }, text: [text, ...moreText(searchedTo)].join('\n\n') };
    });
}

async function findListed(db: Queryable, input: ListInput): Promise<FoundPayments> {
  const { merchant, reference, from, to, amount, search, waitingForSettlement, overdue, status, limit } = input;
  const filter = { status, merchantReferenceId: reference, createdFrom: from, createdTo: to, limit };
  if (overdue) {
    return { payments: await listOverduePayments(db, { merchantId: merchant, status, limit }), searchedTo: null };
  }
  if (search !== undefined && merchant !== undefined) {
    return { ...(await searchPayments(db, { merchantId: merchant, text: search }, limit)), searchedTo: null };
  }
  if (amount === undefined) {
    const all = { ...filter, merchantId: merchant, isSettlementDue: waitingForSettlement };
    return { payments: await listPayments(db, all), searchedTo: null };
  }
  const found = await listPaymentsOfAmount(db, { ...filter, merchantId: merchant, totalRupiah: amount });
  return { payments: found.payments, searchedTo: found.searchedTo?.createdAt ?? null };
}

interface FoundPayments {
  readonly payments: readonly PaymentRow[];
  /** Null if all payments were compared. */
  readonly searchedTo: Date | null;
}

function moreText(searchedTo: Date | null): string[] {
  if (searchedTo === null) return [];
  return [`Older payments were not compared. Repeat the command with --to ${searchedTo.toISOString()}.`];
}

function addSettle(payments: LunasCommand): void {
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
  payments
    .command('settle [payment...]')
    .description('settle payments with manual settlement whose delay is over')
    .option('--merchant <id>', 'all payments of one merchant')
    .option('--until <timestamp>', "the merchant's payments whose delay was over by then")
    .option('--note <text>', 'why, for the audit log')
    .examples(
      'lunas payments settle LN0123456789ABCDEF --note "bank statement 31 January"',
      'lunas payments settle --merchant MERCHANT_ID --until 2026-01-31T17:00:00Z',
    )
    .writeAction(input, async ({ payment, merchant, until, note }, { db, log, actor }, context) => {
      const { listSettleable, settlePayment } = await import('../../services/payments/actions/settle-payment.js');
      const { performForEach } = await import('../../services/payments/actions/perform-action.js');
      const selected = merchant && until ? await listSettleable(db, merchant, until) : payment;
      const settlements = await withTemporal(context, db, (workflows) =>
        performForEach({ db, log, workflows }, actor, { operation: settlePayment, done: 'settled', note }, selected),
      );
      return settlementResult(settlements);
    });
}

function settlementResult(settlements: readonly ActionOutcome<'settled'>[]): CommandResult {
  const rows = settlements.map(outcomeRow);
  const unsettled = settlements.filter(({ outcome }) => outcome !== 'settled').length;
  return {
    json: { settlements: settlements.map(explainOutcome) },
    text: formatTable(rows, 'No payment waits for its settlement.'),
    ...(unsettled > 0 && { failure: `${unsettled} of ${settlements.length} were not settled.` }),
  };
}

function paymentRow(payment: PaymentRow) {
  return {
    REFERENCE: payment.referenceId,
    STATUS: payment.status,
    TOTAL: formatRupiah(payment.totalRupiah),
    NET: formatRupiah(payment.netRupiah),
    PROVIDER: payment.provider,
    SETTLEMENT: settlementOf(payment),
    CREATED: payment.createdAt,
    MERCHANT: payment.merchantId,
    "MERCHANT'S REFERENCE": payment.merchantReferenceId,
  };
}

/** When and how the net amount of a paid payment is settled. */
function settlementOf({ status, settlementKind, settlementDueAt }: PaymentRow): string | null {
  if (status !== 'paid' || settlementDueAt === null) return null;
  const isDue = settlementDueAt.getTime() <= Date.now();
  if (settlementKind === 'manual' && isDue) return 'waits for `settle`';
  return `${settlementKind}, due ${settlementDueAt.toISOString()}`;
}
