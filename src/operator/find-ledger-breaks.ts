import { LATE_PAYMENT_POSTINGS, type LatePaymentStatus, type LatePaymentStep } from '../domain/late-payment';
import type { LedgerLine } from '../domain/ledger';
import { formatRupiah } from '../domain/money';
import { PAYMENT_TRANSITIONS } from '../domain/payment-transitions';

/** What can be wrong with the books. */
export const LEDGER_BREAK_KINDS = [
  'payment_missing',
  'transitions_missing',
  'version_out_of_order',
  'transition_not_in_table',
  'path_broken',
  'payment_disagrees',
  'posting_missing',
  'posting_unexpected',
  'posting_twice',
  'posting_without_entries',
  'posting_unbalanced',
  'posting_wrong_lines',
  'posting_of_other_merchant',
  'entries_without_posting',
] as const;

export interface LedgerBreak {
  readonly kind: (typeof LEDGER_BREAK_KINDS)[number];
  /** Null for entries that belong to nothing. */
  readonly paymentId: string | null;
  readonly detail: string;
}

/** All that the database holds of one payment's money, read as it is: nothing of it is believed. */
export interface PaymentLedger {
  readonly paymentId: string;
  /** Undefined where there are rows of a payment that is not there. */
  payment?: RecordedPaymentState;
  latePayment?: RecordedLatePayment;
  /** By version. */
  readonly transitions: RecordedTransition[];
  readonly postings: RecordedPosting[];
}

export interface RecordedPaymentState extends Amounts {
  readonly merchantId: string;
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
  /** Exactly one of both is not null. */
  readonly version: number | null;
  readonly latePaymentStep: LatePaymentStep | null;
  readonly lines: readonly RecordedLine[];
}

interface RecordedLine extends Pick<LedgerLine, 'side'> {
  readonly account: string;
  readonly amountRupiah: number;
}

interface Amounts {
  readonly totalRupiah: number;
  readonly netRupiah: number;
  readonly feeRupiah: number;
}

/** A posting that must be there: what it books, in words, and its lines. */
interface ExpectedPosting {
  readonly name: string;
  readonly lines: readonly RecordedLine[];
}

const RULES: ReadonlyMap<string, (typeof PAYMENT_TRANSITIONS)[keyof typeof PAYMENT_TRANSITIONS]> = new Map(
  Object.entries(PAYMENT_TRANSITIONS),
);

/**
 * Holds the book of a payment against the tables in `src/domain`: its transitions are a path through the table, the payment
 * stands where they end, and each booking transition and each step of late money has its posting, balanced, with exactly
 * the lines of the table over the payment's amounts, and there is no other posting. So the payment's entries sum to zero.
 */
export function* findLedgerBreaks(ledger: PaymentLedger): Generator<LedgerBreak> {
  const { paymentId, payment } = ledger;
  if (!payment) {
    const remaining = `${ledger.transitions.length} transitions and ${ledger.postings.length} postings are there`;
    return yield { kind: 'payment_missing', paymentId, detail: `The payment is not there, but ${remaining}.` };
  }
  yield* pathBreaks(ledger, payment);
  yield* postingBreaks(ledger, payment);
}

function* pathBreaks({ paymentId, transitions }: PaymentLedger, payment: RecordedPaymentState): Generator<LedgerBreak> {
  let before: RecordedTransition | undefined;
  for (const transition of transitions) {
    const { version, fromStatus } = transition;
    const name = nameOf(transition);
    const due = (before?.version ?? 0) + 1;
    if (version !== due) {
      const detail = `${name} comes where version ${due} should.`;
      yield { kind: 'version_out_of_order', paymentId, detail };
    } else if (fromStatus !== (before?.toStatus ?? null)) {
      const detail = `${name} starts from ${quoted(fromStatus)}, but the payment was ${quoted(before?.toStatus)}.`;
      yield { kind: 'path_broken', paymentId, detail };
    }
    if (!isInTable(transition)) {
      const detail = `${name} from ${quoted(fromStatus)} to ${quoted(transition.toStatus)} is not in the table of transitions.`;
      yield { kind: 'transition_not_in_table', paymentId, detail };
    }
    before = transition;
  }
  if (!before) {
    yield { kind: 'transitions_missing', paymentId, detail: `It is ${quoted(payment.status)} without a transition.` };
  } else if (payment.status !== before.toStatus || payment.version !== before.version) {
    const detail = `It is ${quoted(payment.status)} at version ${payment.version}, but ${nameOf(before)} led to ${quoted(before.toStatus)}.`;
    yield { kind: 'payment_disagrees', paymentId, detail };
  }
}

function* postingBreaks(ledger: PaymentLedger, payment: RecordedPaymentState): Generator<LedgerBreak> {
  const { paymentId } = ledger;
  const expected = expectedPostings(ledger, payment);
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
      const detail = `${name} is posted for the merchant ${posting.merchantId}, the payment is ${payment.merchantId}'s.`;
      yield { kind: 'posting_of_other_merchant', paymentId, detail };
    }
  }
  for (const [key, rule] of expected) {
    if (found.has(key)) continue;
    yield { kind: 'posting_missing', paymentId, detail: `${rule.name} is not posted: ${describeLines(rule.lines)}.` };
  }
}

/** One break at most: what is empty or unbalanced also has the wrong lines. */
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

/** What the tables say that must be booked, by the key of the posting. */
function expectedPostings(
  { transitions, latePayment, postings }: PaymentLedger,
  payment: RecordedPaymentState,
): ReadonlyMap<string, ExpectedPosting> {
  const expected = new Map<string, ExpectedPosting>();
  for (const transition of transitions) {
    const lines = linesOver(RULES.get(transition.name)?.posting ?? [], payment);
    if (lines.length > 0)
      expected.set(keyOf({ ...transition, latePaymentStep: null }), { name: nameOf(transition), lines });
  }
  for (const step of latePayment ? latePaymentSteps(latePayment, postings) : []) {
    const { totalRupiah = 0 } = latePayment ?? {};
    const lines = linesOver(LATE_PAYMENT_POSTINGS[step], { totalRupiah, netRupiah: 0, feeRupiah: 0 });
    expected.set(keyOf({ version: null, latePaymentStep: step }), { name: `the late payment's ${step}`, lines });
  }
  return expected;
}

/** Refunded once, by the provider or by an operator: which of the two only the posting tells. */
function latePaymentSteps(
  { status }: RecordedLatePayment,
  postings: readonly RecordedPosting[],
): readonly LatePaymentStep[] {
  if (status !== 'refunded') return ['receive'];
  const isManual = postings.some(({ latePaymentStep }) => latePaymentStep === 'refund_manually');
  return ['receive', isManual ? 'refund_manually' : 'refund'];
}

function linesOver(lines: readonly LedgerLine[], amounts: Amounts): RecordedLine[] {
  return lines
    .map(({ side, account, amount }) => ({ side, account, amountRupiah: amounts[`${amount}Rupiah`] }))
    .filter(({ amountRupiah }) => amountRupiah > 0);
}

function isInTable({ name, fromStatus, toStatus }: RecordedTransition): boolean {
  const rule = RULES.get(name);
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

/** In an order of its own, so that the same lines are the same words. */
function describeLines(lines: readonly RecordedLine[]): string {
  return lines
    .map(({ side, account, amountRupiah }) => `${side} ${account} ${formatRupiah(amountRupiah)}`)
    .sort()
    .reverse()
    .join(', ');
}
