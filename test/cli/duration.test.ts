import * as fc from 'fast-check';
import { formatDuration, parseDuration } from '../../src/cli/duration';

it.each([
  ['0s', 0],
  ['3s', 3],
  ['15m', 900],
  ['90m', 5_400],
  ['2h', 7_200],
  ['1d', 86_400],
  ['007s', 7],
])('parses %s as %d seconds', (text, seconds) => {
  expect(parseDuration(text)).toBe(seconds);
});

it.each([
  '',
  '3',
  's',
  '1.5h',
  '-1s',
  '+1s',
  '1 h',
  ' 1h',
  '1h ',
  '1h30m',
  '1w',
  '1D',
  '1H',
  '1e3s',
  '٣s',
  '9999999999s',
  '1s\n',
])('rejects %j', (text) => {
  expect(parseDuration(text)).toBeUndefined();
});

it.each([
  [0, '0s'],
  [59, '59s'],
  [60, '1m'],
  [61, '61s'],
  [5_400, '90m'],
  [86_400, '1d'],
  [90_000, '25h'],
])('formats %d seconds as %s', (seconds, text) => {
  expect(formatDuration(seconds)).toBe(text);
});

it('parses every formatted duration', () => {
  fc.assert(
    fc.property(fc.nat(365 * 86_400), (seconds) => expect(parseDuration(formatDuration(seconds))).toBe(seconds)),
  );
});

it('formats a parsed duration as an equal one that is not longer', () => {
  const text = fc.tuple(fc.nat(999_999), fc.constantFrom('s', 'm', 'h', 'd')).map(([count, unit]) => `${count}${unit}`);
  fc.assert(
    fc.property(text, (text) => {
      const seconds = parseDuration(text) ?? NaN;
      expect(parseDuration(formatDuration(seconds))).toBe(seconds);
      expect(formatDuration(seconds).length).toBeLessThanOrEqual(text.length);
    }),
  );
});
