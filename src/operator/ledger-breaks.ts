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
export interface PaymentBook {
  readonly paymentId: string;
  /** Undefined where there are rows of a payment that is not there. */
  payment?: BookedPayment;
  latePayment?: BookedLatePayment;
  /** By version. */
  readonly transitions: BookedTransition[];
  readonly postings: BookedPosting[];
}

export interface BookedPayment extends Amounts {
  readonly merchantId: string;
  readonly status: string;
  readonly version: number;
}

export interface BookedLatePayment {
  readonly status: LatePaymentStatus;
  readonly totalRupiah: number;
}

export interface BookedTransition {
  readonly version: number;
  readonly name: string;
  readonly fromStatus: string | null;
  readonly toStatus: string;
}

export interface BookedPosting {
  readonly id: number;
  readonly merchantId: string;
  /** Exactly one of both is not null. */
  readonly version: number | null;
  readonly lateStep: LatePaymentStep | null;
  readonly lines: readonly BookedLine[];
}

interface BookedLine extends Pick<LedgerLine, 'side'> {
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
  readonly lines: readonly BookedLine[];
}

const RULES: ReadonlyMap<string, (typeof PAYMENT_TRANSITIONS)[keyof typeof PAYMENT_TRANSITIONS]> = new Map(
  Object.entries(PAYMENT_TRANSITIONS),
);

/**
 * Holds the book of a payment against the tables in `src/domain`: its transitions are a path through the table, the payment
 * stands where they end, and each booking transition and each step of late money has its posting, balanced, with exactly
 * the lines of the table over the payment's amounts, and there is no other posting. So the payment's entries sum to zero.
 */
export function* breaksIn(book: PaymentBook): Generator<LedgerBreak> {
  const { paymentId, payment } = book;
  if (!payment) {
    const left = `${book.transitions.length} transitions and ${book.postings.length} postings are there`;
    return yield { kind: 'payment_missing', paymentId, detail: `The payment is not there, but ${left}.` };
  }
  yield* pathBreaks(book, payment);
  yield* postingBreaks(book, payment);
}

function* pathBreaks({ paymentId, transitions }: PaymentBook, payment: BookedPayment): Generator<LedgerBreak> {
  let before: BookedTransition | undefined;
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

function* postingBreaks(book: PaymentBook, payment: BookedPayment): Generator<LedgerBreak> {
  const { paymentId } = book;
  const expected = expectedPostings(book, payment);
  const found = new Set<string>();
  for (const posting of book.postings) {
    const key = keyOf(posting);
    const rule = expected.get(key);
    const name = `Posting ${posting.id} of ${rule?.name ?? key}`;
    if (!rule) {
      yield { kind: 'posting_unexpected', paymentId, detail: `${name} is there, which books nothing.` };
    } else if (found.has(key)) {
      yield { kind: 'posting_twice', paymentId, detail: `${name} is one more than there may be.` };
    }
    found.add(key);
    yield* lineBreaks(paymentId, name, posting.lines, rule);
    if (posting.merchantId !== payment.merchantId) {
      const detail = `${name} is booked for the merchant ${posting.merchantId}, the payment is ${payment.merchantId}'s.`;
      yield { kind: 'posting_of_other_merchant', paymentId, detail };
    }
  }
  for (const [key, rule] of expected) {
    if (found.has(key)) continue;
    yield { kind: 'posting_missing', paymentId, detail: `${rule.name} is not booked: ${inWords(rule.lines)}.` };
  }
}

/** One break at most: what is empty or unbalanced also has the wrong lines. */
function* lineBreaks(
  paymentId: string,
  name: string,
  lines: readonly BookedLine[],
  rule: ExpectedPosting | undefined,
): Generator<LedgerBreak> {
  const offRupiah = lines.reduce(
    (sum, { side, amountRupiah }) => sum + (side === 'debit' ? amountRupiah : -amountRupiah),
    0,
  );
  if (lines.length === 0) {
    yield { kind: 'posting_without_entries', paymentId, detail: `${name} has no entries.` };
  } else if (offRupiah !== 0) {
    const detail = `${name} is off by ${formatRupiah(Math.abs(offRupiah))}: ${inWords(lines)}.`;
    yield { kind: 'posting_unbalanced', paymentId, detail };
  } else if (rule && inWords(lines) !== inWords(rule.lines)) {
    const detail = `${name} books ${inWords(lines)}, and should ${inWords(rule.lines)}.`;
    yield { kind: 'posting_wrong_lines', paymentId, detail };
  }
}

/** What the tables say that must be booked, by the key of the posting. */
function expectedPostings(
  { transitions, latePayment, postings }: PaymentBook,
  payment: BookedPayment,
): ReadonlyMap<string, ExpectedPosting> {
  const expected = new Map<string, ExpectedPosting>();
  for (const transition of transitions) {
    const lines = linesOver(RULES.get(transition.name)?.posting ?? [], payment);
    if (lines.length > 0) expected.set(keyOf({ ...transition, lateStep: null }), { name: nameOf(transition), lines });
  }
  for (const step of latePayment ? lateSteps(latePayment, postings) : []) {
    const { totalRupiah = 0 } = latePayment ?? {};
    const lines = linesOver(LATE_PAYMENT_POSTINGS[step], { totalRupiah, netRupiah: 0, feeRupiah: 0 });
    expected.set(keyOf({ version: null, lateStep: step }), { name: `the late money's ${step}`, lines });
  }
  return expected;
}

/** Refunded once, by the provider or by an operator: which of the two only the posting tells. */
function lateSteps({ status }: BookedLatePayment, postings: readonly BookedPosting[]): readonly LatePaymentStep[] {
  if (status !== 'refunded') return ['receive'];
  const isManual = postings.some(({ lateStep }) => lateStep === 'refund_manually');
  return ['receive', isManual ? 'refund_manually' : 'refund'];
}

function linesOver(lines: readonly LedgerLine[], amounts: Amounts): BookedLine[] {
  return lines
    .map(({ side, account, amount }) => ({ side, account, amountRupiah: amounts[`${amount}Rupiah`] }))
    .filter(({ amountRupiah }) => amountRupiah > 0);
}

function isInTable({ name, fromStatus, toStatus }: BookedTransition): boolean {
  const rule = RULES.get(name);
  return rule !== undefined && rule.from === fromStatus && rule.to === toStatus;
}

function keyOf({ version, lateStep }: Pick<BookedPosting, 'version' | 'lateStep'>): string {
  return version === null ? `late money (${lateStep})` : `version ${version}`;
}

function nameOf({ version, name }: BookedTransition): string {
  return `Version ${version} (${name})`;
}

function quoted(status: string | null = null): string {
  return status === null ? 'nothing' : `"${status}"`;
}

/** In an order of its own, so that the same lines are the same words. */
function inWords(lines: readonly BookedLine[]): string {
  return lines
    .map(({ side, account, amountRupiah }) => `${side} ${account} ${formatRupiah(amountRupiah)}`)
    .sort()
    .reverse()
    .join(', ');
}
