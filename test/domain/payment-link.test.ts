import {
  expiryOfLinkPayment,
  isLinkTitle,
  LINK_KINDS,
  linkAmountOf,
  linkStatusOf,
} from '../../src/domain/payment-link';

const NOW_MS = Date.parse('2026-11-29T08:00:00Z');
const inSeconds = (seconds: number) => new Date(NOW_MS + seconds * 1_000);
const OPEN = { hasPaid: false, closedAt: null, expiresAt: null };

describe('the status of a link', () => {
  it.each(LINK_KINDS)('%s: active until it is closed, or less than a minute is left', (kind) => {
    expect(linkStatusOf({ ...OPEN, kind }, NOW_MS)).toBe('active');
    expect(linkStatusOf({ ...OPEN, kind, expiresAt: inSeconds(60) }, NOW_MS)).toBe('active');
    expect(linkStatusOf({ ...OPEN, kind, expiresAt: new Date(NOW_MS + 59_999) }, NOW_MS)).toBe('expired');
    expect(linkStatusOf({ ...OPEN, kind, expiresAt: inSeconds(-1), closedAt: inSeconds(-9) }, NOW_MS)).toBe('closed');
  });

  it('only a once-link ends with a paid payment, and that comes before its close', () => {
    const paid = { hasPaid: true, closedAt: inSeconds(-1), expiresAt: inSeconds(-1) };
    expect(linkStatusOf({ ...paid, kind: 'once' }, NOW_MS)).toBe('paid');
    expect(linkStatusOf({ ...paid, kind: 'reusable' }, NOW_MS)).toBe('closed');
    expect(linkStatusOf({ ...OPEN, hasPaid: true, kind: 'reusable' }, NOW_MS)).toBe('active');
  });
});

it.each([
  ['a link without an end, by the policy', null, null, null],
  ['a link without an end, by its own expiry', 300, null, 300],
  ['a link that ends later than the policy lets customers pay', null, 900, null],
  ['a link that ends before', null, 899, 899],
  ['a link that ends before its own expiry', 300, 120, 120],
  ['a link that ends after its own expiry', 300, 301, 300],
])('the expiry of a payment: %s', (_name, own, restSeconds, expected) => {
  const expiresAt = restSeconds === null ? null : inSeconds(restSeconds + 0.9);
  expect(expiryOfLinkPayment({ paymentExpiresInSeconds: own, expiresAt }, 900, NOW_MS)).toBe(expected);
});

it.each([
  ['x', true],
  ['😀'.repeat(100), true],
  ['', false],
  [' ', false],
  ['x'.repeat(101), false],
  ['two\nlines', false],
])('a title of one line with 1 to 100 characters: %j', (title, expected) => {
  expect(isLinkTitle(title)).toBe(expected);
});

it.each([
  [50_000, null, null, [50_000, null, null]],
  [null, null, null, [null, 1_000, 10_000_000]],
  [null, 1, null, [null, 1, 10_000_000]],
  [null, null, 1_000, [null, 1_000, 1_000]],
  [null, 5, 5, [null, 5, 5]],
  [null, 6, 5, 'minimum_above_maximum'],
  [null, null, 999, 'minimum_above_maximum'],
  [50_000, 1, null, 'amount_beside_bounds'],
  [50_000, null, 1, 'amount_beside_bounds'],
])(
  'a link that names the amount %j, the minimum %j and the maximum %j has %j',
  (amount, minimum, maximum, expected) => {
    const found = linkAmountOf({ amountRupiah: amount, minimumRupiah: minimum, maximumRupiah: maximum });
    const result = typeof found === 'string' ? found : [found.amountRupiah, found.minimumRupiah, found.maximumRupiah];
    expect(result).toEqual(expected);
  },
);
