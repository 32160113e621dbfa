import { assert, constantFrom, integer, oneof, property, record } from 'fast-check';
import { BANK_PAYOUT_STATUSES, type BankPayout, type FindPayoutOutcome } from '../../src/domain/bank-payout';
import { decidePayout, type ComparedPayout } from '../../src/domain/payout-decision';
import { PAYOUT_STATUSES, PAYOUT_TRANSITIONS, type PayoutStatus } from '../../src/domain/payout-transitions';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const WAITS = { statusNotBeforeMs: 10 * MINUTE_MS, notFoundMs: DAY_MS, expectedWithinMs: MINUTE_MS };
const REJECTION = { kind: 'account', reason: '4031818 Inactive Account' } as const;

function payout(status: PayoutStatus, changes: Partial<ComparedPayout> = {}): ComparedPayout {
  return {
    status,
    isManual: false,
    amountRupiah: 250_000,
    accountLastFour: '7890',
    sendCount: 1,
    sendOutcome: 'accepted',
    sendFailure: null,
    sinceSentMs: 5_000,
    ...changes,
  };
}

function found(status: BankPayout['status'], changes: Partial<BankPayout> = {}): FindPayoutOutcome {
  const none = { bankReference: null, completedAt: null, failureKind: null, reason: null };
  return {
    outcome: 'found',
    payout: { status, amountRupiah: 250_000, accountLastFour: '7890', ...none, ...changes },
  };
}

const NOT_FOUND = { outcome: 'not_found' } as const;
const WAIT = { decision: 'wait' };
/** From each status that such a report would change. */
const CHANGES = [
  ['submitted', 'completed'],
  ['submitted', 'failed'],
  ['submitted', 'returned'],
  ['completed', 'failed'],
  ['completed', 'returned'],
  ['failed', 'completed'],
] as const;
const decide = (compared: ComparedPayout, report: FindPayoutOutcome) => decidePayout(compared, report, WAITS);

it.each(CHANGES)(
  'a payout that is %s, and %s at the bank without an account number: an exception',
  (status, reported) => {
    const noProof = { decision: 'record', transitions: [], exception: 'payout_amount' };
    expect(decide(payout(status), found(reported, { accountLastFour: null }))).toEqual(noProof);
  },
);

it('a report without an account number that changes nothing opens no exception', () => {
  for (const [status, reported] of [
    ['completed', 'completed'],
    ['failed', 'failed'],
    ['submitted', 'pending'],
  ] as const)
    expect(decide(payout(status), found(reported, { accountLastFour: null }))).toMatchObject(WAIT);
});

describe('completed at the bank', () => {
  it('a payout completed with our amount and account: complete', () => {
    const expected = { decision: 'record', transitions: [{ name: 'complete' }] };
    expect(decide(payout('submitted'), found('completed'))).toEqual(expected);
  });

  it('a failed payout that the bank completed: complete it, with an exception', () => {
    expect(decide(payout('failed'), found('completed'))).toEqual({
      decision: 'record',
      transitions: [{ name: 'complete_failed' }],
      exception: 'payout_conflict',
    });
  });

  it('a returned payout that the bank completed: only an exception, unless an operator knows of the return', () => {
    const conflict = { decision: 'record', transitions: [], exception: 'payout_conflict' };
    expect(decide(payout('returned'), found('completed'))).toEqual(conflict);
    expect(decide(payout('returned', { isManual: true }), found('completed'))).toEqual(WAIT);
  });

  it.each([{ amountRupiah: 250_001 }, { accountLastFour: '7891' }])(
    'a completion with %j: only an exception',
    (changes) => {
      expect(decide(payout('submitted'), found('completed', changes))).toEqual({
        decision: 'record',
        transitions: [],
        exception: 'payout_amount',
      });
    },
  );

  it.each(['requested', 'approved', 'cancelled'] as const)('an unsent payout, %s: only an exception', (status) => {
    expect(decide(payout(status), found('completed'))).toEqual({
      decision: 'record',
      transitions: [],
      exception: 'payout_conflict',
    });
  });
});

it('failed at the bank, and submitted: fail, with the kind and the reason', () => {
  expect(decide(payout('submitted'), found('failed', { failureKind: 'limit', reason: 'over the limit' }))).toEqual({
    decision: 'record',
    transitions: [{ name: 'fail', failure: { kind: 'limit', reason: 'over the limit' } }],
  });
});

it.each(['failed', 'returned'] as const)('%s at the bank, and completed: return', (status) => {
  const expected = { decision: 'record', transitions: [{ name: 'return' }] };
  expect(decide(payout('completed'), found(status))).toEqual(expected);
});

it('failed at the bank, and completed by operators: only an exception; returned at the bank: return', () => {
  const compared = payout('completed', { isManual: true });
  const conflict = { decision: 'record', transitions: [], exception: 'payout_conflict' };
  expect(decide(compared, found('failed'))).toEqual(conflict);
  const returned = { decision: 'record', transitions: [{ name: 'return' }] };
  expect(decide(compared, found('returned'))).toEqual(returned);
});

it('returned at the bank, and submitted: complete, then return', () => {
  expect(decide(payout('submitted'), found('returned'))).toEqual({
    decision: 'record',
    transitions: [{ name: 'complete' }, { name: 'return' }],
  });
});

describe('not found at the bank', () => {
  const rejected = { sendOutcome: 'rejected', sendFailure: REJECTION, sinceSentMs: 10 * MINUTE_MS } as const;

  it('an unknown payout whose only call was rejected, once a status proves something: fail', () => {
    expect(decide(payout('submitted', rejected), NOT_FOUND)).toEqual({
      decision: 'record',
      transitions: [{ name: 'fail', failure: REJECTION }],
    });
  });

  it.each([
    ['before a status proves something', { sinceSentMs: 10 * MINUTE_MS - 1 }],
    ['after two calls', { sendCount: 2 }],
    ['after a call without a response', { sendOutcome: null, sendFailure: null }],
    ['after an indeterminate call', { sendOutcome: 'indeterminate', sendFailure: null }],
    ['after an accepted call', { sendOutcome: 'accepted', sendFailure: null }],
  ] as const)('%s: wait', (_, changes) => {
    expect(decide(payout('submitted', { ...rejected, ...changes }), NOT_FOUND)).toMatchObject(WAIT);
  });

  it('an unknown payout before a day is over: wait, and it proves nothing', () => {
    const compared = payout('submitted', { sendOutcome: null, sinceSentMs: MINUTE_MS - 1 });
    expect(decide(compared, NOT_FOUND)).toEqual(WAIT);
    const later = payout('submitted', { sendOutcome: null, sinceSentMs: DAY_MS - 1 });
    expect(decide(later, NOT_FOUND)).toEqual({ decision: 'wait', attention: 'overdue' });
  });

  it('an unknown payout after a day: an operator decides', () => {
    const compared = payout('submitted', { sendOutcome: 'indeterminate', sinceSentMs: DAY_MS });
    expect(decide(compared, NOT_FOUND)).toEqual({ decision: 'wait', attention: 'not_found' });
  });
});

it('pending at the bank: wait, with attention once it takes longer than expected', () => {
  expect(decide(payout('submitted'), found('pending'))).toEqual(WAIT);
  const overdue = payout('submitted', { sinceSentMs: MINUTE_MS });
  expect(decide(overdue, found('pending'))).toEqual({ decision: 'wait', attention: 'overdue' });
});

it('indeterminate at the bank: the status is queried again', () => {
  const report = { outcome: 'indeterminate', reason: 'no response' } as const;
  expect(decide(payout('submitted'), report)).toEqual({ decision: 'query_again', reason: 'no response' });
});

const anyPayout = record({
  status: constantFrom(...PAYOUT_STATUSES),
  isManual: constantFrom(true, false),
  amountRupiah: constantFrom(250_000, 250_001),
  accountLastFour: constantFrom('7890', '7891'),
  sendCount: integer({ min: 0, max: 3 }),
  sendOutcome: constantFrom(null, 'accepted', 'rejected', 'indeterminate'),
  sendFailure: constantFrom(null, REJECTION),
  sinceSentMs: integer({ min: 0, max: 2 * DAY_MS }),
});
const anyReport = oneof(
  constantFrom<FindPayoutOutcome>(NOT_FOUND, { outcome: 'indeterminate', reason: 'no response' }),
  constantFrom(...BANK_PAYOUT_STATUSES).map((status) => found(status)),
);

describe('whatever the bank reports', () => {
  it('each transition leaves the status in which the payout is, and is one of the workflow', () => {
    assert(
      property(anyPayout, anyReport, (compared, report) => {
        const decision = decide(compared, report);
        let { status } = compared;
        for (const { name } of decision.decision === 'record' ? decision.transitions : []) {
          const rule = PAYOUT_TRANSITIONS[name];
          expect(rule).toMatchObject({ from: status, by: ['workflow'] });
          status = rule.to;
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it('money is released only if the bank reports a failure, or rejected the only call and does not know it', () => {
    assert(
      property(anyPayout, anyReport, (compared, report) => {
        const decision = decide(compared, report);
        const transitions = decision.decision === 'record' ? decision.transitions : [];
        if (!transitions.some(({ name }) => name === 'fail')) return;
        const isProven = report.outcome === 'found' ? report.payout.status === 'failed' : isOnlyCallRejected(compared);
        expect(isProven).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  const isOnlyCallRejected = ({ sendCount, sendOutcome }: ComparedPayout) =>
    sendCount === 1 && sendOutcome === 'rejected';
});
