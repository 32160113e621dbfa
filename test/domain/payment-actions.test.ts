import type { PaymentState } from '../../src/domain/payment';
import {
  findRejection,
  PAYMENT_ACTIONS,
  REJECTION_CODES,
  rejectionReason,
  type PaymentAction,
} from '../../src/domain/payment-actions';
import { PAYMENT_STATUSES } from '../../src/domain/payment-transitions';
import { PROVIDERS } from '../../src/domain/provider-capabilities';
import { MAX_REFUNDS, REFUND_STATUSES } from '../../src/domain/refund';

const NOW_MS = Date.parse('2026-11-25T00:00:00Z');
const refund = (status: (typeof REFUND_STATUSES)[number], number = 1) => ({ number, submitAtMs: NOW_MS, status });

const REFUNDS = [refund('held', MAX_REFUNDS), ...REFUND_STATUSES.map((status) => refund(status))];
const STATES: readonly PaymentState[] = PAYMENT_STATUSES.flatMap((status) => [
  [
    { status, version: 1 },
    { status, version: 1, settlesAtMs: NOW_MS + 1 },
  ],
  REFUNDS.map((refund) => ({ status, version: 1, refund })),
]).flat();
const isAction = (name: string): name is PaymentAction => name in PAYMENT_ACTIONS;
const ACTIONS = Object.keys(PAYMENT_ACTIONS).filter(isAction);

const CASES = PROVIDERS.flatMap((provider) =>
  ACTIONS.flatMap((action) => STATES.map((state) => ({ provider, action, state }))),
);

it('an action has a sentence exactly if it has a code', () => {
  const differing = CASES.filter(({ provider, action, state }) => {
    const code = findRejection(action, { provider }, state, NOW_MS);
    return (code === null) !== (rejectionReason(action, { provider }, state, NOW_MS) === null);
  });
  expect(differing).toEqual([]);
});

it('each code is the rejection of some action', () => {
  const codes = new Set(
    CASES.map(({ provider, action, state }) => findRejection(action, { provider }, state, NOW_MS)?.code),
  );
  expect(REJECTION_CODES.filter((code) => !codes.has(code))).toEqual([]);
});

it('a merchant never gets the code without a meaning', () => {
  const unexplained = CASES.filter(({ action }) => action === 'cancel' || action === 'refund').filter(
    ({ provider, action, state }) => findRejection(action, { provider }, state, NOW_MS)?.code === 'other_status',
  );
  expect(unexplained).toEqual([]);
});

it.each([
  ['refund', 'gopay', { status: 'settled', version: 5 }, 'A transaction that is "settled" cannot be refunded.'],
  [
    'cancel',
    'shopeepay',
    { status: 'pending', version: 2 },
    'shopeepay does not support it: its transactions cannot be cancelled.',
  ],
  [
    'cancel',
    'gopay',
    { status: 'refund_processing', version: 5, refund: refund('submitted') },
    'The refund is with the provider already and can no longer be cancelled.',
  ],
  [
    'refund',
    'gopay',
    { status: 'paid', version: 3, refund: refund('rejected', MAX_REFUNDS) },
    'There were 20 refunds of this transaction already, which is the most there can be.',
  ],
  [
    'retryRefund',
    'gopay',
    { status: 'refund_failed', version: 3, refund: refund('rejected', MAX_REFUNDS + 1) },
    'There were 20 refunds of this transaction already, which is the most there can be.',
  ],
  [
    'settle',
    'gopay',
    { status: 'paid', version: 3, settlesAtMs: NOW_MS + 1_000 },
    'Its settlement delay is not over before 2026-11-25T00:00:01.000Z.',
  ],
] as const)('%s of a payment of %s: the sentence of the API', (action, provider, state, sentence) => {
  expect(rejectionReason(action, { provider }, state, NOW_MS)).toBe(sentence);
});
