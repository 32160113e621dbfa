import { runClocks, runTemporalClock } from './clocks';
import { runAsynchronousFailOver, runFailOver } from './fail-over';
import { runFullDisk } from './full-disk';
import { PAYMENT_INVARIANTS } from './invariants';
import { runRewind, violationsOf, type FaultHarness } from './run';

const CUSTOMERS = 4;

/** Trials that run alone, each with its own stack. They return the violations. */
export const SINGLE_TRIALS = {
  rewind: async (harness) => {
    const { results } = await runRewind(harness, CUSTOMERS, () => harness.stack.runLunas('recover'));
    return violationsOf(results, PAYMENT_INVARIANTS);
  },
  'full-disk': runFullDisk,
  clocks: runClocks,
  'temporal-clock': runTemporalClock,
  'fail-over': runFailOver,
  'asynchronous-fail-over': runAsynchronousFailOver,
} as const satisfies Record<string, (harness: FaultHarness) => Promise<string[]>>;

export type SingleTrial = keyof typeof SINGLE_TRIALS;
