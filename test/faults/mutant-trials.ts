import { setTimeout as sleep } from 'node:timers/promises';
import { recover, type Recovery } from '../../src/services/recovery/recover';
import { PaymentWorkflowClient } from '../../src/temporal/payment-workflow-client';
import { Journal } from './journal';
import { MUTANTS, type Mutant } from './mutants';
import { Random } from './random';
import { rewindTemporal } from './rewind';
import { evaluateInvariants } from './run';
import type { FaultStack } from './stack';
import { runTrial, type Trial } from './trials';
import { Workload, type ScenarioKind } from './workload';

interface MutantTrial {
  readonly scenarios: readonly ScenarioKind[];
  /** The victim and the kill point; null if the scenarios alone show the violation. */
  readonly kill: Pick<Trial, 'point' | 'victim' | 'witness' | 'occurrence'> | null;
}

const WORKER = { victim: 'worker', witness: 'worker', occurrence: 1 } as const;

/** For each mutant the scenarios and the kill that violate an invariant. The unbroken service survives the same. */
const TRIALS = {
  keyIgnored: { scenarios: ['repeated'], kill: null },
  // PostgreSQL has recorded the step and the workflow has no result, so it repeats the step.
  stepNotDeduplicated: { scenarios: [], kill: { ...WORKER, point: 'K11', occurrence: 2 } },
  noLookUp: { scenarios: [], kill: { ...WORKER, point: 'K4' } },
  outboxApart: { scenarios: [], kill: { ...WORKER, victim: 'postgres', point: 'K8' } },
  leaseForEver: { scenarios: [], kill: { ...WORKER, point: 'K9' } },
  refundKeyUnstable: { scenarios: [], kill: { ...WORKER, point: 'K10' } },
  recoversMissingOnly: { scenarios: [], kill: null },
  // Some of these creations have just got their responses.
  commitNotDurable: {
    scenarios: Array.from({ length: 16 }, () => 'settle' as const),
    kill: { ...WORKER, victim: 'postgres', point: 'K9', occurrence: 8 },
  },
} as const satisfies Record<Mutant, MutantTrial>;

const CATCH_TIMEOUT_MS = 40_000;
/** Several times the duration of a real recovery. */
const REWOUND_FOR_MS = 20_000;

/**
 * Breaks the service, runs its trial, and evaluates the invariants.
 * @returns the violation, or null if the mutant was not detected
 */
export async function runMutant(stack: FaultStack, mutant: Mutant): Promise<string | null> {
  const { scenarios, kill }: MutantTrial = TRIALS[mutant];
  const journal = new Journal();
  const before = new Set(await findViolations(stack, journal, mutant));
  await stack.restartWith(mutant, mutant === 'noLookUp' ? 'forgetful' : 'mindful');
  const workload = new Workload(stack, journal, new Random(1));
  for (const scenario of scenarios) workload.startScenario(scenario);
  if (kill) await runTrial(stack, workload, { ...kill, how: 'kill', pauseMs: 0, provider: null });
  if (mutant === 'leaseForEver') await stack.letLeasesRunOut();
  if (mutant === 'recoversMissingOnly')
    await rewindTemporal(stack, workload, () => recoverMissing(stack), REWOUND_FOR_MS);
  const deadlineAtMs = performance.now() + CATCH_TIMEOUT_MS;
  let caught: string | undefined;
  while (caught === undefined && performance.now() < deadlineAtMs) {
    await sleep(250);
    caught = (await findViolations(stack, journal, mutant)).find((violation) => !before.has(violation));
  }
  await workload.abandon();
  if (mutant !== 'commitNotDurable') await stack.restartWith(null);
  return caught ?? null;
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
