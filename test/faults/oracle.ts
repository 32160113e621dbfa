import type { Check, Invariant, InvariantResult } from './invariants';
import type { ObservedState } from './observed-state';
import {
  checkAgreement,
  checkCharges,
  checkLedger,
  checkPromises,
  checkRefunds,
  checkTransitions,
  checkWebhooks,
  checkWorkflows,
} from './oracle-payments';
import {
  checkAcknowledgedPayouts,
  checkExecutions,
  checkLines,
  checkOutcomes,
  checkPayoutAgreement,
  checkPayoutEvents,
  checkPayoutTransitions,
  checkPermissions,
} from './oracle-payouts';

/** The oracle shares no table and no rule with the service. Its rules are written here again, from the contract. */
export const ORACLE = {
  I1: (state) => evaluate(checkPromises(state)),
  I2: (state) => evaluate(checkCharges(state)),
  I3: (state) => evaluate(checkRefunds(state)),
  I4: (state) => evaluate(checkLedger(state)),
  I5: (state) => evaluate(checkWebhooks(state)),
  I6: (state) => evaluate(checkTransitions(state)),
  I7: (state) => evaluate(checkAgreement(state)),
  I8: (state) => evaluate(checkWorkflows(state)),
  P1: (state) => evaluate(checkAcknowledgedPayouts(state)),
  P2: (state) => evaluate(checkExecutions(state)),
  P3: (state) => evaluate(checkOutcomes(state)),
  P4: (state) => evaluate(checkLines(state)),
  P5: (state) => evaluate(checkPayoutTransitions(state)),
  P6: (state) => evaluate(checkPayoutEvents(state)),
  P7: (state) => evaluate(checkPayoutAgreement(state)),
  P8: (state) => evaluate(checkPermissions(state)),
} as const satisfies Record<Invariant, (state: ObservedState) => InvariantResult>;

export type InvariantResults = Readonly<Record<Invariant, InvariantResult>>;

export function evaluateAll(state: ObservedState): InvariantResults {
  return {
    I1: ORACLE.I1(state),
    I2: ORACLE.I2(state),
    I3: ORACLE.I3(state),
    I4: ORACLE.I4(state),
    I5: ORACLE.I5(state),
    I6: ORACLE.I6(state),
    I7: ORACLE.I7(state),
    I8: ORACLE.I8(state),
    P1: ORACLE.P1(state),
    P2: ORACLE.P2(state),
    P3: ORACLE.P3(state),
    P4: ORACLE.P4(state),
    P5: ORACLE.P5(state),
    P6: ORACLE.P6(state),
    P7: ORACLE.P7(state),
    P8: ORACLE.P8(state),
  };
}

function evaluate(checks: Iterable<Check>): InvariantResult {
  const all = [...checks];
  return { checks: all.length, violations: all.filter((violation) => violation !== null) };
}
