import { LATE_PAYMENT_POSTINGS, type LatePaymentStatus, type LatePaymentStep } from '../../domain/late-payment';
import type { LedgerLine, PostedAmount } from '../../domain/ledger';
import { formatRupiah } from '../../domain/money';
import { PAYMENT_TRANSITIONS } from '../../domain/payment-transitions';

/** The violations that a verification of the ledger can find. */
export const LEDGER_BREAK_KINDS = [
  'payment_missing',
  'payout_missing',
  'transitions_missing',
  'version_out_of_order',
  'transition_not_in_table',
  'path_broken',
  'payment_disagrees',
  'payout_disagrees',
  'posting_missing',
  'posting_unexpected',
  'posting_twice',
  'posting_without_entries',
  'posting_unbalanced',
  'posting_wrong_lines',
  'posting_of_other_merchant',
  'entries_without_posting',
  'line_missing',
  'line_unexpected',
  'line_disagrees',
  'balance_disagrees',
  'payout_lines_disagree',
  'in_transit_disagrees',
  'closed_day_disagrees',
  'open_day_disagrees',
  'totals_disagree',
  'invoice_sum',
  'verified_sums_disagree',
] as const;

export interface LedgerBreak {
  readonly kind: (typeof LEDGER_BREAK_KINDS)[number];
  /** Null for entries without a posting, for sums of a merchant, and for payouts, which `detail` names. */
  readonly paymentId: string | null;
  readonly detail: string;
}

/** All rows of one payment's money. The verification trusts none of them. */
export interface PaymentLedger {
  readonly paymentId: string;
  /** Undefined if the payment's own row is missing. */
  payment?: RecordedPaymentState;
  latePayment?: RecordedLatePayment;
  /** The merchant of an archived payment. Only a late payment of it can be here. */
  archivedOf?: string;
  /** By version. */
  readonly transitions: RecordedTransition[];
  readonly postings: RecordedPosting[];
}

type PostedAmounts = Readonly<Record<`${PostedAmount}Rupiah`, number>>;

interface PostedPayment extends PostedAmounts {
  readonly merchantId: string;
}

const NO_AMOUNTS: PostedAmounts = { totalRupiah: 0, netRupiah: 0, feeRupiah: 0, feeNetRupiah: 0, vatRupiah: 0 };

export interface RecordedPaymentState extends PostedPayment {
  readonly status: string;
  readonly version: number;
}

export interface RecordedLatePayment {
  readonly status: LatePaymentStatus;
  readonly totalRupiah: number;
}

export interface RecordedTransition {
  readonly version: number;
  readonly name: string;
  readonly fromStatus: string | null;
  readonly toStatus: string;
}

export interface RecordedPosting {
  readonly id: number;
  readonly merchantId: string;
  /** Exactly one of `version` and `latePaymentStep` is not null. */
  readonly version: number | null;
  readonly latePaymentStep: LatePaymentStep | null;
  readonly lines: readonly RecordedLine[];
}

interface RecordedLine extends Pick<LedgerLine, 'side'> {
  readonly account: string;
  readonly amountRupiah: number;
}

/** A posting that must exist: a description of what it posts, and its lines. */
interface ExpectedPosting {
  readonly name: string;
  readonly lines: readonly RecordedLine[];
}

/** A kind of subject with its table of transitions. */
export interface VerifiedKind {
  readonly noun: 'payment' | 'payout';
  readonly rules: ReadonlyMap<string, VerifiedRule>;
}

interface VerifiedRule {
  readonly from: string | null;
  readonly to: string;
  readonly posting: readonly LedgerLine[];
}

const PAYMENTS: VerifiedKind = { noun: 'payment', rules: new Map(Object.entries(PAYMENT_TRANSITIONS)) };

/**
 * Compares the ledger of a payment with the tables in `src/domain`. Its transitions must be a path through
 * `PAYMENT_TRANSITIONS` that ends at the payment's status and version. Each transition with a posting rule, and each
 * step of a late payment, must have one balanced posting with exactly the lines of the table. No other posting may
 * exist. So the payment's entries sum to zero.
 */
export function* findLedgerBreaks(ledger: PaymentLedger, kind = PAYMENTS): Generator<LedgerBreak> {
  const { paymentId, payment, archivedOf } = ledger;
  if (!payment && archivedOf !== undefined)
    return yield* postingBreaks(ledger, { ...NO_AMOUNTS, merchantId: archivedOf }, kind);
  if (!payment) {
    const remaining = `${ledger.transitions.length} transitions and ${ledger.postings.length} postings exist`;
    const { noun } = kind;
    return yield { kind: `${noun}_missing`, paymentId, detail: `The ${noun} is missing, but ${remaining}.` };
  }
  yield* pathBreaks(ledger, payment, kind);
  yield* postingBreaks(ledger, payment, kind);
}

function* pathBreaks(
  { paymentId, transitions }: PaymentLedger,
  payment: RecordedPaymentState,
  { noun, rules }: VerifiedKind,
): Generator<LedgerBreak> {
  let before: RecordedTransition | undefined;
  for (const transition of transitions) {
    const { version, fromStatus } = transition;
    const name = nameOf(transition);
    const due = (before?.version ?? 0) + 1;
    if (version !== due) {
      const detail = `${name} is where version ${due} is due.`;
      yield { kind: 'version_out_of_order', paymentId, detail };
    } else if (fromStatus !== (before?.toStatus ?? null)) {
      const detail = `${name} starts from ${quoted(fromStatus)}, but the ${noun} was ${quoted(before?.toStatus)}.`;
      yield { kind: 'path_broken', paymentId, detail };
    }
    if (!isInTable(rules, transition)) {
      const change = `from ${quoted(fromStatus)} to ${quoted(transition.toStatus)}`;
      const detail = `${name} ${change} is not in the table of transitions.`;
      yield { kind: 'transition_not_in_table', paymentId, detail };
    }
    before = transition;
  }
  if (!before) {
    yield { kind: 'transitions_missing', paymentId, detail: `It is ${quoted(payment.status)} without a transition.` };
  } else if (payment.status !== before.toStatus || payment.version !== before.version) {
    const recorded = `${quoted(payment.status)} at version ${payment.version}`;
    const detail = `It is ${recorded}, but ${nameOf(before)} led to ${quoted(before.toStatus)}.`;
    yield { kind: `${noun}_disagrees`, paymentId, detail };
  }
}

function* postingBreaks(ledger: PaymentLedger, payment: PostedPayment, kind: VerifiedKind): Generator<LedgerBreak> {
  const { paymentId } = ledger;
  const { noun, rules } = kind;
  const expected = expectedPostings(ledger, payment, rules);
  const found = new Set<string>();
  for (const posting of ledger.postings) {
    const key = keyOf(posting);
    const rule = expected.get(key);
    const name = `Posting ${posting.id} of ${rule?.name ?? key}`;
    if (!rule) {
      yield { kind: 'posting_unexpected', paymentId, detail: `${name} is not expected by any transition.` };
    } else if (found.has(key)) {
      yield { kind: 'posting_twice', paymentId, detail: `${name} is a duplicate.` };
    }
    found.add(key);
    yield* lineBreaks(paymentId, name, posting.lines, rule);
    if (posting.merchantId !== payment.merchantId) {
      const detail = `${name} is posted for merchant ${posting.merchantId}, the ${noun} is of ${payment.merchantId}.`;
      yield { kind: 'posting_of_other_merchant', paymentId, detail };
    }
  }
  for (const [key, rule] of expected) {
    if (found.has(key)) continue;
    yield { kind: 'posting_missing', paymentId, detail: `${rule.name} is not posted: ${describeLines(rule.lines)}.` };
  }
}

/** At most one break: an empty or unbalanced posting also has the wrong lines. */
function* lineBreaks(
  paymentId: string,
  name: string,
  lines: readonly RecordedLine[],
  rule: ExpectedPosting | undefined,
): Generator<LedgerBreak> {
  const offRupiah = lines.reduce(
    (sum, { side, amountRupiah }) => sum + (side === 'debit' ? amountRupiah : -amountRupiah),
    0,
  );
  if (lines.length === 0) {
    yield { kind: 'posting_without_entries', paymentId, detail: `${name} has no entries.` };
  } else if (offRupiah !== 0) {
    const detail = `${name} is off by ${formatRupiah(Math.abs(offRupiah))}: ${describeLines(lines)}.`;
    yield { kind: 'posting_unbalanced', paymentId, detail };
  } else if (rule && describeLines(lines) !== describeLines(rule.lines)) {
    const detail = `${name} posts ${describeLines(lines)}, and should post ${describeLines(rule.lines)}.`;
    yield { kind: 'posting_wrong_lines', paymentId, detail };
  }
}

/** The postings that the tables require, by key. */
function expectedPostings(
  { transitions, latePayment, postings }: PaymentLedger,
  payment: PostedPayment,
  rules: VerifiedKind['rules'],
): ReadonlyMap<string, ExpectedPosting> {
  const expected = new Map<string, ExpectedPosting>();
  for (const transition of transitions) {
    const lines = linesOver(rules.get(transition.name)?.posting ?? [], payment);
    if (lines.length > 0)
      expected.set(keyOf({ ...transition, latePaymentStep: null }), { name: nameOf(transition), lines });
  }
  for (const step of latePayment ? latePaymentSteps(latePayment, postings) : []) {
    const { totalRupiah = 0 } = latePayment ?? {};
    const lines = linesOver(LATE_PAYMENT_POSTINGS[step], { ...NO_AMOUNTS, totalRupiah });
    expected.set(keyOf({ version: null, latePaymentStep: step }), { name: `the late payment's ${step}`, lines });
  }
  return expected;
}

/** A late payment is refunded by the provider or by an operator: only the posting shows which. */
function latePaymentSteps(
  { status }: RecordedLatePayment,
  postings: readonly RecordedPosting[],
): readonly LatePaymentStep[] {
  if (status !== 'refunded') return ['receive'];
  const isManual = postings.some(({ latePaymentStep }) => latePaymentStep === 'refund_manually');
  return ['receive', isManual ? 'refund_manually' : 'refund'];
}

function linesOver(lines: readonly LedgerLine[], amounts: PostedAmounts): RecordedLine[] {
  return lines
    .map(({ side, account, amount }) => ({ side, account, amountRupiah: amounts[`${amount}Rupiah`] }))
    .filter(({ amountRupiah }) => amountRupiah > 0);
}

function isInTable(rules: VerifiedKind['rules'], { name, fromStatus, toStatus }: RecordedTransition): boolean {
  const rule = rules.get(name);
  return rule !== undefined && rule.from === fromStatus && rule.to === toStatus;
}

function keyOf({ version, latePaymentStep }: Pick<RecordedPosting, 'version' | 'latePaymentStep'>): string {
  return version === null ? `late payment (${latePaymentStep})` : `version ${version}`;
}

function nameOf({ version, name }: RecordedTransition): string {
  return `Version ${version} (${name})`;
}

function quoted(status: string | null = null): string {
  return status === null ? 'nothing' : `"${status}"`;
}

/** Sorted, so that equal sets of lines give equal texts. */
function describeLines(lines: readonly RecordedLine[]): string {
  return lines
    .map(({ side, account, amountRupiah }) => `${side} ${account} ${formatRupiah(amountRupiah)}`)
    .sort()
    .reverse()
    .join(', ');
}
