import { eventOnEntering, PAYMENT_EVENTS } from '../../src/domain/events';
import { LEDGER_ACCOUNTS, type LedgerLine } from '../../src/domain/ledger';
import {
  FINAL_STATUSES,
  OPEN_STATUSES,
  PAID_STATUSES,
  PAYMENT_TRANSITIONS,
  UNPAID_FINAL_STATUSES,
} from '../../src/domain/payment-transitions';

const rules = Object.entries(PAYMENT_TRANSITIONS);

/** The amount of a line, for a payment with net 90 and fee 10, of which VAT 1. */
function rupiah(line: LedgerLine): number {
  const amount = { total: 100, net: 90, fee: 10, feeNet: 9, vat: 1 }[line.amount];
  return line.side === 'debit' ? amount : -amount;
}

describe('the table of transitions', () => {
  it('the transitions of payments are exactly the edges of the state diagram', () => {
    const edges = new Set(
      rules.filter(([, rule]) => rule.from !== rule.to).map(([, rule]) => `${rule.from ?? '-'} > ${rule.to}`),
    );
    expect([...edges].sort()).toEqual(
      [
        '- > created',
        'created > pending',
        'created > failed',
        'pending > paid',
        'pending > expired',
        'pending > cancelled',
        'pending > failed',
        'paid > refund_processing',
        'paid > settled',
        'refund_processing > paid',
        'refund_processing > refunded',
        'refund_processing > refund_failed',
        'refund_failed > refund_processing',
        'refund_failed > refunded',
        'refund_failed > paid',
      ].sort(),
    );
  });

  it('one transition of payments keeps the status, submit_refund, without a posting', () => {
    const still = rules.filter(([, rule]) => rule.from === rule.to);
    expect(still.map(([name, { posting }]) => [name, posting])).toEqual([['submit_refund', []]]);
  });

  it.each(rules)('%s has a balanced posting to known accounts, or none', (_name, rule) => {
    const posting: readonly LedgerLine[] = rule.posting;
    expect(posting.reduce((sum, line) => sum + rupiah(line), 0)).toBe(0);
    expect(posting.every((line) => LEDGER_ACCOUNTS.includes(line.account))).toBe(true);
  });

  it('posts −fee to the available balance for a refund, and the net amount for a settlement', () => {
    const balance = (names: readonly (keyof typeof PAYMENT_TRANSITIONS)[], account: string) =>
      names
        .flatMap((name): readonly LedgerLine[] => PAYMENT_TRANSITIONS[name].posting)
        .filter((line) => line.account === account)
        .reduce((sum, line) => sum - rupiah(line), 0);
    expect(balance(['pay', 'confirm_refund'], 'merchant_available')).toBe(-10);
    expect(balance(['pay', 'confirm_refund'], 'merchant_pending')).toBe(0);
    expect(balance(['pay', 'settle'], 'merchant_available')).toBe(90);
    expect(balance(['pay', 'settle'], 'merchant_pending')).toBe(0);
  });

  it('payments have five final statuses and five open ones', () => {
    expect(FINAL_STATUSES).toEqual(['expired', 'settled', 'failed', 'cancelled', 'refunded']);
    expect(OPEN_STATUSES).toEqual(['created', 'pending', 'paid', 'refund_processing', 'refund_failed']);
  });

  it('reaches five statuses from paid, and three final ones without it', () => {
    expect(PAID_STATUSES).toEqual(['paid', 'settled', 'refund_processing', 'refund_failed', 'refunded']);
    expect(UNPAID_FINAL_STATUSES).toEqual(['expired', 'failed', 'cancelled']);
  });

  it('leads a refund along the statuses of the contract', () => {
    const edges = rules.flatMap(([, rule]) =>
      'refund' in rule ? [`${rule.refund.from ?? '-'} > ${rule.refund.to}`] : [],
    );
    expect([...new Set(edges)].sort()).toEqual([
      '- > held',
      'held > cancelled',
      'held > submitted',
      'rejected > confirmed',
      'submitted > confirmed',
      'submitted > rejected',
    ]);
  });

  it('each status of a payment has one event, with its name', () => {
    expect(PAYMENT_EVENTS).toHaveLength(10);
    expect(eventOnEntering('refund_processing')).toBe('payment.refund_processing');
  });
});
