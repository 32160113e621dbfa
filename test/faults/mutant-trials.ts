import { setTimeout as sleep } from 'node:timers/promises';
import { recover, type Recovery } from '../../src/services/recovery/recover';
import { PaymentWorkflowClient } from '../../src/temporal/payment-workflow-client';
import { Journal } from './journal';
import { MUTANTS, type Mutant } from './mutants';
import type { PayoutJournal } from './payout-journal';
import { claimTwice, resubmit } from './payout-mutant-trials';
import { Random } from './random';
import { rewindTemporal } from './rewind';
import { evaluateInvariants } from './run';
import type { FaultStack } from './stack';
import { clearProviderFaults, runTrial, setProviderFault, type Trial } from './trials';
import { Workload, type ScenarioKind } from './workload';

interface MutantTrial {
  readonly scenarios: readonly ScenarioKind[];
  /** The victim and the kill point; null if the scenarios alone show the violation. */
  readonly kill: Pick<Trial, 'point' | 'victim' | 'witness' | 'occurrence'> | null;
  /** The acquirer and the bank; absent: mindful. */
  readonly providers?: 'forgetful' | 'late';
  /** A fault of every call to the acquirer or the bank. */
  readonly fault?: NonNullable<Trial['provider']>;
  /** What happens beside the scenarios. */
  readonly provoke?: (stack: FaultStack, workload: Workload) => Promise<unknown>;
  /** The violation that counts, where the unbroken service has others for a while. */
  readonly shows?: RegExp;
  /** The violation is a state that does not end: it is looked for when the scenarios are over. */
  readonly isAtRest?: boolean;
}

const WORKER = { victim: 'worker', witness: 'worker', occurrence: 1 } as const;
const PAYOUTS = { victim: 'payouts', witness: 'payouts', occurrence: 1 } as const;

const FAILED_AND_EXECUTED = /is failed, with 1/;

/** For each mutant the scenarios and the kill that violate an invariant. The unbroken service survives the same. */
const TRIALS = {
  keyIgnored: { scenarios: ['repeated'], kill: null },
  // PostgreSQL has recorded the step and the workflow has no result, so it repeats the step.
  stepNotDeduplicated: { scenarios: [], kill: { ...WORKER, point: 'K11', occurrence: 2 } },
  noLookUp: { scenarios: [], kill: { ...WORKER, point: 'K4' }, providers: 'forgetful' },
  outboxApart: { scenarios: [], kill: { ...WORKER, victim: 'postgres', point: 'K8' } },
  leaseForEver: { scenarios: [], kill: { ...WORKER, point: 'K9' }, provoke: (stack) => stack.letLeasesRunOut() },
  refundKeyUnstable: { scenarios: [], kill: { ...WORKER, point: 'K10' } },
  recoversMissingOnly: {
    scenarios: [],
    kill: null,
    provoke: (stack, workload) => rewindTemporal(stack, workload, () => recoverMissing(stack), REWOUND_FOR_MS),
  },
  submitRepeated: { scenarios: [], kill: { ...PAYOUTS, point: 'K15' }, providers: 'forgetful' },
  referenceUnstable: { scenarios: ['payout'], kill: null },
  recoveryResubmits: { scenarios: [], kill: null, providers: 'forgetful', provoke: resubmit },
  resendUnpermitted: { scenarios: ['payout'], kill: null, providers: 'late' },
  indeterminateFails: {
    scenarios: ['payout'],
    kill: null,
    fault: { operation: 'transfer_status', kind: 'http_500' },
    shows: FAILED_AND_EXECUTED,
  },
  notFoundFails: { scenarios: ['payout'], kill: null, providers: 'late', shows: FAILED_AND_EXECUTED },
  returnIgnored: { scenarios: ['payoutReturned'], kill: null, shows: /is completed, with 0/, isAtRest: true },
  claimUnlocked: { scenarios: [], kill: null, provoke: claimTwice },
  payoutEventApart: { scenarios: [], kill: { ...PAYOUTS, victim: 'postgres', point: 'K16' } },
  coolDownIgnored: { scenarios: ['payoutInCoolDown'], kill: null },
  holdIgnored: { scenarios: ['payoutOnHold'], kill: null },
  // Some of these creations have just got their responses.
  commitNotDurable: {
    scenarios: Array.from({ length: 16 }, () => 'settle' as const),
    kill: { ...WORKER, victim: 'postgres', point: 'K9', occurrence: 8 },
  },
} as const satisfies Record<Mutant, MutantTrial>;

/** Other tests may run beside this. */
const CATCH_TIMEOUT_MS = 120_000;
const EVERY_CALL = 1_000;
/** Several times the duration of a real recovery. */
const REWOUND_FOR_MS = 20_000;

/**
 * Breaks the service, runs its trial, and evaluates the invariants. The service stays broken.
 * @param payouts that of all mutants: payouts of the earlier ones go on
 * @returns the violation, or null if the mutant was not detected
 */
export async function runMutant(stack: FaultStack, payouts: PayoutJournal, mutant: Mutant): Promise<string | null> {
  const { scenarios, kill, providers, fault, provoke, shows, isAtRest = false }: MutantTrial = TRIALS[mutant];
  const journal = new Journal([], payouts);
  const before = await findViolations(stack, journal, mutant);
  const known = new Set([...before, ...before.flatMap(idsIn)]);
  const isCaught = (violation: string) =>
    shows?.test(violation) !== false && ![violation, ...idsIn(violation)].some((part) => known.has(part));
  await stack.restartWith(mutant, providers);
  if (fault) await setProviderFault(stack, fault, EVERY_CALL);
  const workload = new Workload(stack, journal, new Random(1));
  for (const scenario of scenarios) workload.startScenario(scenario);
  if (kill) await runTrial(stack, workload, { ...kill, how: 'kill', pauseMs: 0, provider: null });
  await provoke?.(stack, workload);
  if (isAtRest) await workload.stop();
  const deadlineAtMs = performance.now() + CATCH_TIMEOUT_MS;
  let caught: string | undefined;
  while (caught === undefined && performance.now() < deadlineAtMs) {
    await sleep(250);
    caught = (await findViolations(stack, journal, mutant)).find(isCaught);
  }
  await workload.abandon();
  await clearProviderFaults(stack);
  return caught ?? null;
}

/** The payments and payouts of an earlier mutant go on. */
function idsIn(violation: string): string[] {
  return violation.match(/\bL[NP]\w{18}\b|[0-9a-f]{8}-[0-9a-f-]{27}/g) ?? [];
}

class StartingWorkflowClient extends PaymentWorkflowClient {
  override signalProviderUpdate(): Promise<'signalled'> {
    return Promise.resolve('signalled');
  }
}

function recoverMissing({ db, client }: FaultStack): Promise<Recovery> {
  const context = { db, environment: 'sandbox', onDeliveries: () => undefined };
  return recover(context, new StartingWorkflowClient(client));
}

/** The violations of the mutant's invariants. */
async function findViolations(stack: FaultStack, journal: Journal, mutant: Mutant): Promise<string[]> {
  const results = await evaluateInvariants(stack, journal);
  return MUTANTS[mutant].violates.flatMap((name) =>
    results[name].violations.map((violation) => `${name}: ${violation}`),
  );
}
