import { timeLeftAt } from '../../../src/web/checkout/time-left';

const SECOND_MS = 1_000;

it.each([
  [0, '0:00'],
  [59, '0:59'],
  [5_999, '99:59'],
  [6_000, '1:40:00'],
  [86_069, '23:54:29'],
])('a page with %i seconds left shows %s', (seconds, countdown) => {
  expect(timeLeftAt(0, new Date(seconds * SECOND_MS)).countdown).toBe(countdown);
});
