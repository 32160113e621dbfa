import { shiftedClock } from '../../faults/clock';
import { runSingleTrial, TRIAL_TIMEOUT_MS } from '../single-trial';

const OFF_SECONDS = 600;

it(
  'PostgreSQL or a worker with a clock ten minutes off: no double charge or refund, nothing settled or expired early',
  async () => {
    expect(await runSingleTrial('clocks')).toEqual([]);
  },
  TRIAL_TIMEOUT_MS,
);

it.each([OFF_SECONDS, -OFF_SECONDS])(
  'Temporal with a clock that is off by %i s: no double charge or refund, nothing settled or expired early',
  // Every process except Temporal has the shifted clock (test/faults/clocks.ts).
  async (offsetSeconds) => {
    expect(await runSingleTrial('temporal-clock', shiftedClock(-offsetSeconds))).toEqual([]);
  },
  TRIAL_TIMEOUT_MS,
);
