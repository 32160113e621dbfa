import * as fc from 'fast-check';
import { fairnessKeyOf } from '../../src/engine/fairness-key';

const instants = fc.date({ min: new Date('2026-01-01'), max: new Date('2036-01-01'), noInvalidDate: true });
const lives = fc.integer({ min: 1, max: 30 * 86_400 });

it('of a payment that is being created is of a period that has not begun, of one that is due of one that has', () => {
  fc.assert(
    fc.property(instants, lives, lives, (now, newLife, dueLife) => {
      const created = Date.parse(fairnessKeyOf(now.getTime() + newLife * 1_000, newLife));
      const due = Date.parse(fairnessKeyOf(now.getTime(), dueLife));
      expect(created).toBeGreaterThan(now.getTime());
      expect(due).toBeLessThanOrEqual(now.getTime());
    }),
  );
});

it('is one of few for payments that are due at once, however different their lives', () => {
  fc.assert(
    fc.property(instants, (at) => {
      const keys = Array.from({ length: 1_000 }, (_, index) => fairnessKeyOf(at.getTime(), 200 + index));
      expect(new Set(keys).size).toBeLessThanOrEqual(4);
    }),
  );
});
