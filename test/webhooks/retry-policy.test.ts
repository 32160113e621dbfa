import { assert, double, integer, property } from 'fast-check';
import { MAX_TRIES, waitAfterTry } from '../../src/webhooks/retry-policy';

describe('the retries of a webhook', () => {
  it('are twelve tries over three days, never more than about a day apart', () => {
    const waits = Array.from({ length: MAX_TRIES - 1 }, (_, index) => waitAfterTry(index + 1, undefined, 0.5) ?? 0);
    expect(MAX_TRIES).toBe(12);
    expect(waits).toEqual([...waits].sort((a, b) => a - b));
    expect(waits.slice(0, 4)).toEqual([10, 30, 120, 300]);
    const days = waits.reduce((sum, wait) => sum + wait, 0) / 86_400;
    expect(days).toBeGreaterThan(2.8);
    expect(days).toBeLessThan(3.2);
  });

  it('end after the last one', () => {
    expect(waitAfterTry(MAX_TRIES)).toBeUndefined();
    expect(waitAfterTry(MAX_TRIES + 5)).toBeUndefined();
  });

  it('spread by a tenth, and wait as long as the receiver asks, up to an hour', () => {
    assert(
      property(integer({ min: 1, max: 11 }), double({ min: 0, max: 0.999, noNaN: true }), (tries, random) => {
        const planned = waitAfterTry(tries, undefined, 0.5) ?? 0;
        const wait = waitAfterTry(tries, undefined, random) ?? 0;
        expect(Math.abs(wait - planned)).toBeLessThanOrEqual(planned * 0.1 + 1e-6);
      }),
    );
    expect(waitAfterTry(1, 100, 0.5)).toBe(100);
    expect(waitAfterTry(1, 999_999, 0.5)).toBe(3_600);
    expect(waitAfterTry(9, 100, 0.5)).toBe(43_200);
  });
});
