import { assert, double, integer, property } from 'fast-check';
import { MAX_ATTEMPTS, retryDelaySeconds } from '../../src/webhooks/retry-policy';

describe('the retries of a webhook', () => {
  it('a webhook has twelve attempts over three days with increasing delays', () => {
    const delays = Array.from(
      { length: MAX_ATTEMPTS - 1 },
      (_, index) => retryDelaySeconds(index + 1, undefined, 0.5) ?? 0,
    );
    expect(MAX_ATTEMPTS).toBe(12);
    expect(delays).toEqual([...delays].sort((a, b) => a - b));
    expect(delays.slice(0, 4)).toEqual([10, 30, 120, 300]);
    const days = delays.reduce((sum, delay) => sum + delay, 0) / 86_400;
    expect(days).toBeGreaterThan(2.8);
    expect(days).toBeLessThan(3.2);
  });

  it('end after the twelfth attempt', () => {
    expect(retryDelaySeconds(MAX_ATTEMPTS)).toBeUndefined();
    expect(retryDelaySeconds(MAX_ATTEMPTS + 5)).toBeUndefined();
  });

  it('vary by 10 %, and follow Retry-After up to an hour', () => {
    assert(
      property(integer({ min: 1, max: 11 }), double({ min: 0, max: 0.999, noNaN: true }), (attempts, random) => {
        const planned = retryDelaySeconds(attempts, undefined, 0.5) ?? 0;
        const delay = retryDelaySeconds(attempts, undefined, random) ?? 0;
        expect(Math.abs(delay - planned)).toBeLessThanOrEqual(planned * 0.1 + 1e-6);
      }),
    );
    expect(retryDelaySeconds(1, 100, 0.5)).toBe(100);
    expect(retryDelaySeconds(1, 999_999, 0.5)).toBe(3_600);
    expect(retryDelaySeconds(9, 100, 0.5)).toBe(43_200);
  });
});
