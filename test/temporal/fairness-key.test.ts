import * as fc from 'fast-check';
import { fairnessKeyFor } from '../../src/temporal/fairness-key';

const timestamps = fc.date({ min: new Date('2026-01-01'), max: new Date('2036-01-01'), noInvalidDate: true });
const timesToLive = fc.integer({ min: 1, max: 30 * 86_400 });

it('a new payment has a window that starts in the future, an overdue one a window that has started', () => {
  fc.assert(
    fc.property(timestamps, timesToLive, timesToLive, (now, newTimeToLive, dueTimeToLive) => {
      const created = Date.parse(fairnessKeyFor(now.getTime() + newTimeToLive * 1_000, newTimeToLive));
      const due = Date.parse(fairnessKeyFor(now.getTime(), dueTimeToLive));
      expect(created).toBeGreaterThan(now.getTime());
      expect(due).toBeLessThanOrEqual(now.getTime());
    }),
  );
});

it('overdue payments have few keys for any times to live', () => {
  fc.assert(
    fc.property(timestamps, (at) => {
      const keys = Array.from({ length: 1_000 }, (_, index) => fairnessKeyFor(at.getTime(), 200 + index));
      expect(new Set(keys).size).toBeLessThanOrEqual(4);
    }),
  );
});
