import { LEDGER_ACCOUNTS, type LedgerAccount, type LedgerLine } from '../../src/domain/ledger';
import {
  isResting,
  OPEN_PAYOUT_STATUSES,
  PAYOUT_STATUSES,
  PAYOUT_TRANSITIONS,
  RESTING_PAYOUT_STATUSES,
  type PayoutAmount,
  type PayoutStatus,
  type PayoutTransitionName,
  type PayoutTransitionRule,
} from '../../src/domain/payout-transitions';

const rules: readonly (readonly [string, PayoutTransitionRule])[] = Object.entries(PAYOUT_TRANSITIONS);

/** The amount of a line, for a payout of 100 of which 10 are the fee. */
function rupiah({ side, amount }: LedgerLine<PayoutAmount>): number {
  const value = { gross: 100, amount: 90, fee: 10 }[amount];
  return side === 'debit' ? value : -value;
}

/** What is on an account after these transitions: above zero in debit. */
function balanceAfter(names: readonly PayoutTransitionName[], account: LedgerAccount): number {
  return names
    .flatMap((name): readonly LedgerLine<PayoutAmount>[] => PAYOUT_TRANSITIONS[name].posting)
    .filter((line) => line.account === account)
    .reduce((sum, line) => sum + rupiah(line), 0);
}

/** Every way from nothing to a status, without a transition that it has already. */
function pathsTo(status: PayoutStatus): readonly (readonly PayoutTransitionName[])[] {
  const paths: (readonly PayoutTransitionName[])[] = [];
  const walk = (at: PayoutStatus | null, path: readonly PayoutTransitionName[]): void => {
    if (at === status) paths.push(path);
    for (const name of NAMES) {
      const { from, to } = PAYOUT_TRANSITIONS[name];
      if (from === at && !path.includes(name)) walk(to, [...path, name]);
    }
  };
  walk(null, []);
  return paths;
}

const NAMES: readonly PayoutTransitionName[] = [
  'request',
  'approve',
  'cancel_request',
  'cancel',
  'submit',
  'resend',
  'complete',
  'fail',
  'resolve_as_completed',
  'resolve_as_failed',
  'return',
  'resolve_as_returned',
  'complete_failed',
  'resolve_failed_as_completed',
];

describe('the table of transitions of payouts', () => {
  it('the transitions of payouts are exactly the edges of the state diagram', () => {
    expect(rules.map(([name]) => name)).toEqual(NAMES);
    expect(new Set(rules.map(([, { from, to }]) => `${from ?? '-'} > ${to}`))).toEqual(
      new Set([
        '- > requested',
        'requested > approved',
        'requested > cancelled',
        'approved > cancelled',
        'approved > submitted',
        'submitted > submitted',
        'submitted > completed',
        'submitted > failed',
        'completed > returned',
        'failed > completed',
      ]),
    );
  });

  it('one transition of payouts keeps the status, resend, without a posting', () => {
    const still = rules.filter(([, { from, to }]) => from === to);
    expect(still.map(([name, { posting }]) => [name, posting])).toEqual([['resend', []]]);
  });

  it.each(rules)('%s has a balanced posting to known accounts, or none', (_name, { posting }) => {
    expect(posting.reduce((sum, line) => sum + rupiah(line), 0)).toBe(0);
    expect(posting.every(({ account }) => LEDGER_ACCOUNTS.includes(account))).toBe(true);
  });

  it.each(PAYOUT_STATUSES)('reaches %s', (status) => {
    expect(pathsTo(status)).not.toEqual([]);
  });

  it.each(PAYOUT_STATUSES)('the balances are the same on every way to %s', (status) => {
    const expected = {
      requested: { merchant_available: 100, payout_in_transit: -90, fee_revenue: -10, cash: 0 },
      approved: { merchant_available: 100, payout_in_transit: -90, fee_revenue: -10, cash: 0 },
      submitted: { merchant_available: 100, payout_in_transit: -90, fee_revenue: -10, cash: 0 },
      completed: { merchant_available: 100, payout_in_transit: 0, fee_revenue: -10, cash: -90 },
      failed: { merchant_available: 0, payout_in_transit: 0, fee_revenue: 0, cash: 0 },
      cancelled: { merchant_available: 0, payout_in_transit: 0, fee_revenue: 0, cash: 0 },
      returned: { merchant_available: 10, payout_in_transit: 0, fee_revenue: -10, cash: 0 },
    } as const satisfies Record<PayoutStatus, Partial<Record<LedgerAccount, number>>>;
    for (const path of pathsTo(status)) {
      const found = {
        merchant_available: balanceAfter(path, 'merchant_available'),
        payout_in_transit: balanceAfter(path, 'payout_in_transit'),
        fee_revenue: balanceAfter(path, 'fee_revenue'),
        cash: balanceAfter(path, 'cash'),
      };
      expect({ path, ...found }).toEqual({ path, ...expected[status] });
    }
  });

  it('leaves a resting status only by its last four rows', () => {
    expect(RESTING_PAYOUT_STATUSES).toEqual(['completed', 'failed', 'cancelled', 'returned']);
    expect(OPEN_PAYOUT_STATUSES).toEqual(['requested', 'approved', 'submitted']);
    const leaving = rules.filter(([, { from }]) => from !== null && isResting(from)).map(([name]) => name);
    expect(leaving).toEqual(NAMES.slice(-4));
  });

  it('lets only the workflow write what the bank reports, and only operators what it does not report', () => {
    const byMembers = rules.filter(([, { by }]) => by.includes('user')).map(([name]) => name);
    expect(byMembers).toEqual(['request', 'approve', 'cancel_request', 'cancel']);
    const fromTheBank = rules.filter(([, { from, to }]) => from === 'submitted' && to !== 'submitted');
    expect(fromTheBank.map(([name, { by }]) => [name, by])).toEqual([
      ['complete', ['workflow']],
      ['fail', ['workflow']],
      ['resolve_as_completed', ['operator']],
      ['resolve_as_failed', ['operator']],
    ]);
  });
});
