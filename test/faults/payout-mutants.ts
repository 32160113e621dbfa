import { randomInt, randomUUID } from 'node:crypto';
import type { Pool } from '../../src/db/connection/pool';
import { COMMON_PARAMETERS } from '../../src/db/transitions/apply-transition';
import type { BankPayout, FindPayoutOutcome } from '../../src/domain/bank-payout';
import type { PayoutOrder, PayoutProvider } from '../../src/providers/payout-provider';
import { isStatement } from './instrumented';
import type { Mutant } from './mutants';

/* The mutants of payouts that are no change of a statement's text. */

const REFERENCE_CHARACTERS = 14;

/** The calls to the bank of a mutant. They know what this process has sent. */
const sent = new Map<string, PayoutOrder>();
const completed = new Set<string>();

/** The worker's view of the bank, as a mutant sees it. */
export function breakBank(bank: PayoutProvider, mutant: Mutant | null): PayoutProvider {
  return {
    ...bank,
    sendPayout(order, call) {
      sent.set(order.referenceId, order);
      return bank.sendPayout(orderOf(mutant, order), call);
    },
    async findPayout(key, call) {
      const found = await bank.findPayout(key, call);
      const order = sent.get(key.referenceId);
      if (!order) return found;
      const isUnknown = found.outcome === 'not_found';
      if (mutant === 'resendUnpermitted' && isUnknown) await bank.sendPayout(orderOf(mutant, order), call);
      const fails = mutant === 'notFoundFails' ? isUnknown : found.outcome === 'indeterminate';
      if (fails && (mutant === 'notFoundFails' || mutant === 'indeterminateFails')) return failed(order);
      return mutant === 'returnIgnored' ? withoutReturn(key.referenceId, found) : found;
    },
  };
}

/** The bank would reject a second call of the same number: these mutants send another one. */
const SENDING_AGAIN: ReadonlySet<Mutant | null> = new Set(['submitRepeated', 'recoveryResubmits', 'resendUnpermitted']);
const MAX_SEND_NUMBER = 1_000_000;

function orderOf(mutant: Mutant | null, order: PayoutOrder): PayoutOrder {
  if (SENDING_AGAIN.has(mutant)) return { ...order, sendNumber: randomInt(1, MAX_SEND_NUMBER) };
  if (mutant !== 'referenceUnstable') return order;
  return {
    ...order,
    referenceId: `LP${randomUUID().replaceAll('-', '').slice(0, REFERENCE_CHARACTERS).toUpperCase()}`,
  };
}

function failed({ amountRupiah, account }: PayoutOrder): FindPayoutOutcome {
  const payout: BankPayout = {
    status: 'failed',
    amountRupiah,
    accountLastFour: account.number.slice(-4),
    bankReference: null,
    completedAt: null,
    failureKind: 'other',
    reason: 'fault test',
  };
  return { outcome: 'found', payout };
}

/** Midtrans reports a payout that came back as failed. */
function withoutReturn(referenceId: string, found: FindPayoutOutcome): FindPayoutOutcome {
  if (found.outcome !== 'found') return found;
  if (found.payout.status === 'completed') completed.add(referenceId);
  return completed.has(referenceId) ? { ...found, payout: { ...found.payout, status: 'completed' } } : found;
}

/** The mutant `submitRepeated`: a submission that is recorded already counts as recorded now. */
export function repeatSubmissions(db: Pool, mutant: Mutant | null): Pool {
  if (mutant !== 'submitRepeated') return db;
  return new Proxy(db, {
    get(target, key) {
      const member: unknown = Reflect.get(target, key);
      if (typeof member !== 'function') return member;
      if (key !== 'query') return member.bind(target);
      return async (given: unknown, ...rest: unknown[]) => {
        const result: unknown = await member.call(target, given, ...rest);
        if (!isStatement(given) || given.name !== 'payout_submit' || !isEmpty(result)) return result;
        const text = `select status, version, last_sent_at as "lastSentAt", 0 as deliveries from payouts
          where id = $1 and status = 'submitted'`;
        return target.query(text, [given.values?.[COMMON_PARAMETERS.length]]);
      };
    },
  });
}

function isEmpty(result: unknown): boolean {
  return typeof result === 'object' && result !== null && 'rowCount' in result && result.rowCount === 0;
}
