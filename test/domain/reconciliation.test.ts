import { isFinal, PAYMENT_STATUSES, type PaymentStatus } from '../../src/domain/payment-transitions';
import {
  findBreaks,
  findOverdueLatePayment,
  type ProviderRecord,
  type RecordedPayment,
  type WorkflowRecord,
} from '../../src/domain/reconciliation';

const NOW = Date.parse('2026-11-21T08:00:00Z');

function recorded(status: PaymentStatus, changes: Partial<RecordedPayment> = {}): RecordedPayment {
  return {
    state: { status, version: 3, settlesAtMs: NOW + 60_000 },
    totalRupiah: 50_000,
    settlementKind: 'automatic',
    providerTransactionId: 'tx',
    createdAtMs: NOW - 1_000,
    expiresAtMs: NOW + 600_000,
    updatedAtMs: NOW - 120_000,
    late: null,
    refundSubmittedAtMs: null,
    isManuallyRefunded: false,
    isMerchantOnHold: false,
    ...changes,
  };
}

const EXPECTED = {
  created: 'pending',
  pending: 'pending',
  paid: 'paid',
  expired: 'expired',
  settled: 'paid',
  failed: 'denied',
  cancelled: 'cancelled',
  refund_processing: 'paid',
  refund_failed: 'paid',
  refunded: 'refunded',
} as const satisfies Record<PaymentStatus, ProviderRecord['status']>;

function provider(status: ProviderRecord['status'], changes: Partial<ProviderRecord> = {}): ProviderRecord {
  const refunds = status === 'refunded' ? [{ totalRupiah: 50_000, confirmedAt: new Date(NOW) }] : [];
  return { status, totalRupiah: 50_000, providerTransactionId: 'tx', refunds, ...changes };
}

function workflow(status: PaymentStatus): WorkflowRecord {
  return { isRunning: !isFinal(status), status };
}

describe.each(PAYMENT_STATUSES)('a payment that is %s', (status) => {
  it('a payment has no break if provider, PostgreSQL and workflow agree', () => {
    expect(findBreaks(recorded(status), provider(EXPECTED[status]), workflow(status), NOW)).toEqual([]);
  });

  it('a payment has a break if the provider has another amount or another transaction', () => {
    const amount = findBreaks(recorded(status), provider(EXPECTED[status], { totalRupiah: 9 }), workflow(status), NOW);
    expect(amount.some(({ kind }) => kind === 'mismatch' || kind === 'duplicate')).toBe(true);
    const another = provider(EXPECTED[status], { providerTransactionId: 'another' });
    expect(findBreaks(recorded(status), another, workflow(status), NOW)).toMatchObject([{ kind: 'duplicate' }]);
  });

  it('a payment has a break if its workflow has another status, or is missing while the payment is open', () => {
    const gone = findBreaks(recorded(status), provider(EXPECTED[status]), null, NOW);
    expect(gone.map(({ kind }) => kind)).toEqual(isFinal(status) ? [] : ['missing']);
    const other = { isRunning: true, status: status === 'paid' ? 'pending' : 'paid' };
    expect(findBreaks(recorded(status), provider(EXPECTED[status]), other, NOW)).toMatchObject([{ kind: 'mismatch' }]);
  });
});

describe('an indeterminate record', () => {
  const overduePayment = recorded('pending', { expiresAtMs: NOW - 120_000 });

  it('hides neither a missing workflow nor an overdue timer', () => {
    const breaks = findBreaks(overduePayment, 'indeterminate', null, NOW);
    expect(breaks.map(({ kind }) => kind)).toEqual(['missing', 'overdue']);
  });

  it('hides no break at the provider', () => {
    const breaks = findBreaks(recorded('pending'), provider('paid'), 'indeterminate', NOW);
    expect(breaks).toMatchObject([{ kind: 'mismatch', isResolvedByStatusQuery: true }]);
  });

  it('an indeterminate record is no break by itself', () => {
    expect(findBreaks(recorded('paid'), 'indeterminate', 'indeterminate', NOW)).toEqual([]);
  });
});

describe('a workflow that differs from PostgreSQL', () => {
  it.each([
    ['refund_processing', { isRunning: true, status: 'paid' }],
    ['settled', { isRunning: true, status: 'paid' }],
  ] as const)('a workflow that differs from PostgreSQL is resolved by a status query: %s', (status, running) => {
    expect(findBreaks(recorded(status), provider(EXPECTED[status]), running, NOW)).toMatchObject([
      { kind: 'mismatch', isResolvedByStatusQuery: true },
    ]);
  });
});

describe('a late payment', () => {
  it.each(['received', 'submitted'] as const)('a late payment is overdue after ten minutes: %s', (status) => {
    expect(findOverdueLatePayment(status, NOW - 11 * 60_000, NOW)).toMatchObject([
      { kind: 'overdue', isResolvedByStatusQuery: true },
    ]);
    expect(findOverdueLatePayment(status, NOW - 9 * 60_000, NOW)).toEqual([]);
  });

  it.each(['refunded', 'manual_review'] as const)('a late payment is never overdue: %s', (status) => {
    expect(findOverdueLatePayment(status, 0, NOW)).toEqual([]);
  });
});

describe('a break at the provider is resolved by a status query', () => {
  it.each([
    ['pending', 'paid', true],
    ['pending', 'expired', true],
    ['expired', 'paid', true],
    ['cancelled', 'paid', true],
    ['refund_failed', 'refunded', true],
    ['settled', 'refunded', false],
    ['refunded', 'paid', false],
    ['cancelled', 'pending', false],
  ] as const)('%s here, %s there: %s', (here, there, isResolvedByStatusQuery) => {
    expect(findBreaks(recorded(here), provider(there), workflow(here), NOW)).toMatchObject([
      { isResolvedByStatusQuery },
    ]);
  });

  it('a late payment in suspense or refunded is no break', () => {
    for (const [late, there] of [
      ['manual_review', 'paid'],
      ['submitted', 'refunded'],
      ['refunded', 'refunded'],
    ] as const) {
      expect(findBreaks(recorded('expired', { late }), provider(there), workflow('expired'), NOW)).toEqual([]);
    }
    const refunded = recorded('expired', { late: 'refunded' });
    expect(findBreaks(refunded, provider('paid'), workflow('expired'), NOW)).toHaveLength(1);
  });
});

describe('a manual refund', () => {
  it.each([
    ['refunded', null],
    ['expired', 'refunded'],
  ] as const)('a manual refund is no break if the provider does not have it: %s', (status, late) => {
    const manual = recorded(status, { late, isManuallyRefunded: true });
    expect(findBreaks(manual, provider('paid'), workflow(status), NOW)).toEqual([]);
    expect(findBreaks({ ...manual, isManuallyRefunded: false }, provider('paid'), workflow(status), NOW)).toHaveLength(
      1,
    );
  });

  it('a manual refund is a break if the provider refunded too', () => {
    const manual = recorded('refunded', { isManuallyRefunded: true });
    expect(findBreaks(manual, provider('refunded'), workflow('refunded'), NOW)).toHaveLength(1);
    const late = recorded('expired', { late: 'refunded', isManuallyRefunded: true });
    expect(findBreaks(late, provider('refunded'), workflow('expired'), NOW)).toHaveLength(1);
  });
});

describe('a timer that should have fired', () => {
  const minutesAgo = (minutes: number) => NOW - minutes * 60_000;
  it.each([
    ['pending', { expiresAtMs: minutesAgo(2) }],
    ['paid', { state: { status: 'paid', version: 3, settlesAtMs: minutesAgo(2) } }],
    ['created', { createdAtMs: minutesAgo(10) }],
    [
      'refund_processing',
      {
        state: {
          status: 'refund_processing',
          version: 4,
          refund: { number: 1, submitAtMs: minutesAgo(2), status: 'held' },
        },
      },
    ],
    [
      'refund_processing',
      {
        state: {
          status: 'refund_processing',
          version: 5,
          refund: { number: 1, submitAtMs: minutesAgo(11), status: 'submitted' },
        },
        refundSubmittedAtMs: minutesAgo(11),
      },
    ],
  ] as const)('a timer that should have fired is a break: %s', (status, changes) => {
    const breaks = findBreaks(recorded(status, changes), provider(EXPECTED[status]), workflow(status), NOW);
    expect(breaks).toMatchObject([{ kind: 'overdue' }]);
  });

  it('a timer that should have fired is no break if settlement waits for an operator', () => {
    const waiting = recorded('paid', {
      settlementKind: 'manual',
      state: { status: 'paid', version: 3, settlesAtMs: minutesAgo(600) },
    });
    expect(findBreaks(waiting, provider('paid'), workflow('paid'), NOW)).toEqual([]);
  });
});
