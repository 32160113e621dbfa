import type { Check } from './invariants';
import type { ObservedPayout, PayoutTransitionRecord } from './observed-payouts';
import type { ObservedState, ObservedWorkflow } from './observed-state';
import type { Pause } from './payout-journal';

/* P1 to P8: the checks of payouts. */

export function* checkAcknowledgedPayouts({ journal, payouts }: ObservedState): Generator<Check> {
  const recorded = new Map(payouts.payouts.map((payout) => [payout.id, payout]));
  for (const seen of journal.payouts.requested) {
    const payout = recorded.get(seen.id);
    const isSame =
      payout?.referenceId === seen.referenceId &&
      payout.merchantId === seen.merchantId &&
      payout.grossRupiah === seen.grossRupiah &&
      payout.feeRupiah === seen.feeRupiah &&
      payout.amountRupiah === seen.amountRupiah;
    yield isSame ? null : `${seen.id} was acknowledged, and PostgreSQL has ${JSON.stringify(payout ?? null)}`;
  }
  const taken = new Set(payouts.transitions.map(({ payoutId, name }) => `${payoutId} ${name}`));
  for (const { payoutId, action } of journal.payouts.done) {
    const names = action === 'cancel' ? ['cancel', 'cancel_request'] : [action];
    yield names.some((name) => taken.has(`${payoutId} ${name}`))
      ? null
      : `${action} of ${payoutId} was acknowledged, and is not in PostgreSQL`;
  }
}

export function* checkExecutions({ journal, transfers, payouts }: ObservedState): Generator<Check> {
  const recorded = new Map(payouts.payouts.map((payout) => [payout.referenceId, payout]));
  const permittedAt = firstTimes(payouts.transitions, 'submit');
  for (const { partner_reference_no: reference, send_calls: calls, executions } of transfers.values()) {
    const payout = recorded.get(reference);
    if (!payout) {
      yield `the bank has ${reference}, which is no payout`;
      continue;
    }
    const { id, sendCount, amountRupiah, bankAccountId } = payout;
    yield calls <= sendCount ? null : `${reference} was sent ${calls} times with ${sendCount} permissions`;
    const out = executions.filter(({ direction }) => direction === 'out');
    yield out.length <= 1 ? null : `${reference} was executed ${out.length} times`;
    for (const { amount_rupiah: amount, account_number: account, executed_at: at } of out) {
      const number = journal.payouts.accountNumbers.get(bankAccountId);
      yield amount === amountRupiah && account === number
        ? null
        : `${reference} was executed with ${amount} to ${account}, not ${amountRupiah} to ${number}`;
      yield (permittedAt.get(id) ?? Infinity) <= at.getTime()
        ? null
        : `${reference} was executed before its submission was recorded`;
    }
  }
}

function firstTimes(transitions: readonly PayoutTransitionRecord[], name: string): Map<string, number> {
  const times = new Map<string, number>();
  for (const transition of transitions) {
    if (transition.name === name && !times.has(transition.payoutId))
      times.set(transition.payoutId, transition.recordedAt.getTime());
  }
  return times;
}

/** Only after the faults have stopped: the bank executes a payout before PostgreSQL has it as completed. */
export function* checkOutcomes({ transfers, payouts }: ObservedState): Generator<Check> {
  for (const { referenceId, status } of payouts.payouts) {
    const executions = transfers.get(referenceId)?.executions ?? [];
    const net = executions.reduce((sum, { direction }) => sum + (direction === 'out' ? 1 : -1), 0);
    yield (status === 'completed' ? 1 : 0) === net ? null : `${referenceId} is ${status}, with ${net} executions`;
  }
}

export function* checkLines({ journal, payouts }: ObservedState): Generator<Check> {
  for (const { id, lineCount, claimedLines, claimedRupiah } of payouts.payouts) {
    yield claimedLines === lineCount ? null : `${id} has ${claimedLines} lines, not ${lineCount}`;
    yield claimedRupiah === 0 ? null : `the lines of ${id} are off by ${claimedRupiah}`;
  }
  for (const { merchantId, ledger, lines, unclaimed } of payouts.merchants) {
    yield ledger === lines && ledger === unclaimed
      ? null
      : `${merchantId}: the ledger has ${ledger}, the lines ${lines}, those that are not claimed ${unclaimed}`;
  }
  for (const { id, grossRupiah, balanceRupiah } of journal.payouts.requested) {
    yield grossRupiah <= balanceRupiah ? null : `${id} pays ${grossRupiah} of a balance of ${balanceRupiah}`;
  }
}

/** Every transition that payouts.md permits: its name, from and to. */
const PERMITTED: ReadonlySet<string> = new Set([
  'request null requested',
  'approve requested approved',
  'cancel_request requested cancelled',
  'cancel approved cancelled',
  'submit approved submitted',
  'resend submitted submitted',
  'complete submitted completed',
  'fail submitted failed',
  'resolve_as_failed submitted failed',
  'return completed returned',
  'complete_failed failed completed',
]);

export function* checkPayoutTransitions({ payouts }: ObservedState): Generator<Check> {
  let before: PayoutTransitionRecord | undefined;
  const last = new Map<string, PayoutTransitionRecord>();
  for (const transition of payouts.transitions) {
    const { payoutId, version, name, from, to } = transition;
    if (before?.payoutId !== payoutId) before = undefined;
    yield PERMITTED.has(`${name} ${from} ${to}`) ? null : `${payoutId} went from ${from} to ${to} by ${name}`;
    const follows = version === (before?.version ?? 0) + 1 && from === (before?.to ?? null);
    yield follows ? null : `${payoutId} went from ${from} to ${to} after it was ${before?.to}`;
    before = transition;
    last.set(payoutId, transition);
  }
  const balances = new Map(payouts.balances.map((balance) => [balance.payoutId, balance]));
  let openRupiah = 0;
  for (const payout of payouts.payouts) {
    const { id, status, version, amountRupiah } = payout;
    const { to, version: lastVersion } = last.get(id) ?? {};
    yield to === status && lastVersion === version
      ? null
      : `${id} is ${status} in version ${version}, and its last transition led to ${to} in version ${lastVersion}`;
    const { sum = 0, available = 0, inTransit = 0, fee = 0, cash = 0 } = balances.get(id) ?? {};
    const found = [sum, available, inTransit, fee, cash].join(' ');
    const expected = [0, ...expectedBalances(payout)].join(' ');
    yield found === expected ? null : `${id} is ${status}: the ledger has ${found}, not ${expected}`;
    if (OPEN.has(status)) openRupiah += amountRupiah;
  }
  const { inTransitRupiah } = payouts;
  yield -inTransitRupiah === openRupiah
    ? null
    : `payout_in_transit is ${-inTransitRupiah}, and the open payouts are ${openRupiah}`;
}

const OPEN: ReadonlySet<string> = new Set(['requested', 'approved', 'submitted']);

/** Merchant available, payout in transit, fee revenue, cash: debit minus credit. */
function expectedBalances({ status, grossRupiah, amountRupiah, feeRupiah }: ObservedPayout): number[] {
  switch (status) {
    case 'requested':
    case 'approved':
    case 'submitted':
      return [grossRupiah, -amountRupiah, -feeRupiah, 0];
    case 'completed':
      return [grossRupiah, 0, -feeRupiah, -amountRupiah];
    case 'returned':
      return [feeRupiah, 0, -feeRupiah, 0];
    default:
      return [0, 0, 0, 0];
  }
}

export function* checkPayoutEvents({ payouts, received, receivedBefore }: ObservedState): Generator<Check> {
  const merchants = new Map(payouts.payouts.map(({ id, merchantId }) => [id, merchantId]));
  const deliveries = new Map(
    payouts.deliveries.map((delivery) => [deliveryKey(delivery, delivery.endpointId), delivery]),
  );
  yield deliveries.size === payouts.deliveries.length ? null : 'an event of a payout has two deliveries to an endpoint';
  const arrived = new Set(
    received.filter(({ responseStatus }) => responseStatus === 200).map(({ deliveryId }) => deliveryId),
  );
  let expectedCount = 0;
  for (const transition of payouts.transitions) {
    const { payoutId, from, to, event } = transition;
    yield event === (from === to ? null : `payout.${to}`) ? null : `${payoutId} became ${to}, with the event ${event}`;
    if (event === null) continue;
    const listed = payouts.endpoints.filter(
      ({ merchantId, events }) => merchantId === merchants.get(payoutId) && events?.includes(event),
    );
    expectedCount += listed.length;
    for (const { id } of listed) {
      const delivery = deliveries.get(deliveryKey(transition, id));
      yield delivery ? null : `${payoutId} became ${to}, without a delivery to the endpoint ${id}`;
      if (!delivery) continue;
      const { id: deliveryId, status, isAbandoned } = delivery;
      yield status === 'dead' || isAbandoned ? `the delivery ${deliveryId} is ${status}, and abandoned` : null;
      if (status !== 'delivered') continue;
      yield arrived.has(deliveryId) ? null : `the delivery ${deliveryId} is delivered, but the receiver did not get it`;
    }
  }
  const { length } = payouts.deliveries;
  yield length === expectedCount ? null : `${length} deliveries of payouts, and ${expectedCount} events are listed`;
  yield* checkReceived({ payouts, received, receivedBefore });
}

function* checkReceived({
  payouts,
  received,
  receivedBefore,
}: Pick<ObservedState, 'payouts' | 'received' | 'receivedBefore'>): Generator<Check> {
  const events = new Map(payouts.transitions.map((transition) => [deliveryKey(transition), transition]));
  const urls = new Map(payouts.endpoints.map(({ id, url }) => [id, url]));
  const known = new Map(payouts.deliveries.map((delivery) => [delivery.id, delivery]));
  for (const { deliveryId, event, url, rawBody, hasValidSignature } of received.slice(0, receivedBefore)) {
    if (!event.startsWith('payout.')) continue;
    yield hasValidSignature ? null : `the delivery ${deliveryId} has an invalid signature`;
    const delivery = known.get(deliveryId);
    const expected = delivery && events.get(deliveryKey(delivery));
    yield expected?.event === event && expected.body === rawBody && urls.get(delivery?.endpointId ?? '') === url
      ? null
      : `the delivery ${deliveryId} to ${url} does not match its event`;
  }
}

function deliveryKey(
  { payoutId, version }: { readonly payoutId: string; readonly version: number },
  endpointId?: string,
): string {
  return [payoutId, version, endpointId].join(' ');
}

/** What the bank has of a payout that rests, by its status. `none`: no call has arrived. */
const AT_BANK: Readonly<Record<string, readonly string[]>> = {
  completed: ['completed'],
  returned: ['returned'],
  // The bank reports a payout that came back as failed. Lunas may not have asked in between.
  failed: ['rejected', 'failed', 'returned', 'not_received', 'none'],
  cancelled: ['none'],
};
/** This account fails, and is executed later. */
const EXECUTED_AFTER_FAILURE = '9900000031';

/** What the bank reported before it changed its mind, by its status now. A repeat of it may arrive at any time. */
const MAY_COME_BEFORE: Readonly<Record<string, readonly string[]>> = { returned: ['completed'], completed: ['failed'] };

/** Only after the faults have stopped. */
export function* checkPayoutAgreement(state: ObservedState): Generator<Check> {
  const { journal, transfers, payouts } = state;
  const runs = newestRuns(state.workflows);
  const accounts = new Map<string, string | undefined>();
  const bankStatuses = new Map<string, string>();
  for (const { id, referenceId, bankAccountId, status } of payouts.payouts) {
    accounts.set(referenceId, journal.payouts.accountNumbers.get(bankAccountId));
    const atBank = transfers.get(referenceId)?.status ?? 'none';
    bankStatuses.set(referenceId, atBank);
    const run = runs.get(`payout-${id}`);
    yield run?.payoutStatus === status ? null : `${id} is ${run?.payoutStatus} in its workflow, and ${status}`;
    const isWaiting = status === 'submitted' && atBank === 'none' && run?.needsAttention === true;
    yield isWaiting || AT_BANK[status]?.includes(atBank) === true ? null : `${id} is ${status}, and "${atBank}" there`;
  }
  for (const { referenceId, reportedStatus, mayBeAhead, attempts } of payouts.openNotifications) {
    const atBank = bankStatuses.get(referenceId);
    const isExpected = mayBeAhead && MAY_COME_BEFORE[atBank ?? 'none']?.includes(reportedStatus) === true;
    const text = `the notification "${reportedStatus}" of ${referenceId} is still open, and "${atBank}" there`;
    yield isExpected ? null : `${text}: ${attempts}`;
  }
  for (const { kind, referenceId } of payouts.exceptions) {
    const isExpected = kind === 'payout_conflict' && accounts.get(referenceId) === EXECUTED_AFTER_FAILURE;
    yield isExpected ? null : `${kind} was opened for ${referenceId}`;
  }
}

/** A payout that rests has a new run when the bank reports something else. */
function newestRuns(workflows: readonly ObservedWorkflow[]): Map<string, ObservedWorkflow> {
  const newest = new Map<string, ObservedWorkflow>();
  for (const run of workflows) {
    const known = newest.get(run.id);
    if (!known || known.startedAtMs < run.startedAtMs) newest.set(run.id, run);
  }
  return newest;
}

/** PostgreSQL rounds the time of a record to a millisecond. */
const ROUNDING_MS = 1;

export function* checkPermissions({ journal, payouts }: ObservedState): Generator<Check> {
  const recorded = new Map(payouts.payouts.map((payout) => [payout.id, payout]));
  const approved = new Set(payouts.transitions.flatMap(({ payoutId, name }) => (name === 'approve' ? [payoutId] : [])));
  for (const { payoutId, name, recordedAt } of payouts.transitions) {
    if (name !== 'submit' && name !== 'resend') continue;
    const payout = recorded.get(payoutId);
    if (!payout) continue;
    const { approvalKind, approvedBy, requestedBy, merchantId, bankAccountId } = payout;
    const isApproved = approvalKind === 'none' || (approvedBy !== requestedBy && approvedBy?.startsWith('user:'));
    yield approved.has(payoutId) && isApproved ? null : `${payoutId} was permitted without its approval`;
    const pauses = journal.payouts.pauses.filter(({ subject }) => subject === merchantId || subject === bankAccountId);
    for (const pause of pauses) {
      yield isIn(pause, recordedAt.getTime()) ? `${payoutId} was permitted while ${pause.subject} had to wait` : null;
    }
  }
}

function isIn({ fromMs, toMs }: Pause, atMs: number): boolean {
  return toMs !== null && atMs > fromMs + ROUNDING_MS && atMs < toMs - ROUNDING_MS;
}
