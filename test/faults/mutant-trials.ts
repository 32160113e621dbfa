import { setTimeout as sleep } from 'node:timers/promises';
import { PaymentsEngine } from '../../src/engine/payments-engine';
import { recover, type Recovery } from '../../src/operator/recover';
import { Journal } from './journal';
import { Load, type LifeKind } from './load';
import { MUTANTS, type Mutant } from './mutants';
import { Random } from './random';
import { rewindTemporal } from './rewind';
import { judgeAll } from './run';
import type { Stack } from './stack';
import { runTrial, type Trial } from './trials';

interface MutantTrial {
  readonly lives: readonly LifeKind[];
  /** What is killed, and where; null where the lives alone show it. */
  readonly kill: Pick<Trial, 'point' | 'victim' | 'witness' | 'passage'> | null;
}

const WORKER = { victim: 'worker', witness: 'worker', passage: 1 } as const;

/** For each mutant the lives and the kill that a sound service survives, as the long run shows, and this one does not. */
const TRIALS = {
  keyIgnored: { lives: ['repeated'], kill: null },
  // Recorded, and the workflow was not told: it takes the step again.
  stepNotDeduplicated: { lives: [], kill: { ...WORKER, point: 'K11', passage: 2 } },
  noLookUp: { lives: [], kill: { ...WORKER, point: 'K4' } },
  outboxApart: { lives: [], kill: { ...WORKER, victim: 'postgres', point: 'K8' } },
  leaseForEver: { lives: [], kill: { ...WORKER, point: 'K9' } },
  refundKeyUnstable: { lives: [], kill: { ...WORKER, point: 'K10' } },
  recoversMissingOnly: { lives: [], kill: null },
  // In the middle of creations, some of which have just been answered.
  commitNotDurable: {
    lives: Array.from({ length: 16 }, () => 'settle' as const),
    kill: { ...WORKER, victim: 'postgres', point: 'K9', passage: 8 },
  },
} as const satisfies Record<Mutant, MutantTrial>;

const CAUGHT_WITHIN_MS = 40_000;
/** Several times what the product's recovery takes. */
const REWOUND_FOR_MS = 20_000;

/**
 * Breaks the service, lets its fault happen, and asks the oracle.
 * @returns the violation that was found, null where the mutant survived
 */
export async function runMutant(stack: Stack, mutant: Mutant): Promise<string | null> {
  const { lives, kill }: MutantTrial = TRIALS[mutant];
  const journal = new Journal();
  const before = new Set(await findFallen(stack, journal, mutant));
  await stack.become(mutant, mutant === 'noLookUp' ? 'forgetful' : 'mindful');
  const load = new Load(stack, journal, new Random(1));
  for (const life of lives) load.begin(life);
  if (kill) await runTrial(stack, load, { ...kill, how: 'kill', pauseMs: 0, provider: null });
  // 30 s pass in a moment.
  if (mutant === 'leaseForEver') await stack.letLeasesRunOut();
  if (mutant === 'recoversMissingOnly') await rewindTemporal(stack, load, () => recoverMissing(stack), REWOUND_FOR_MS);
  const deadline = performance.now() + CAUGHT_WITHIN_MS;
  let caught: string | undefined;
  while (caught === undefined && performance.now() < deadline) {
    await sleep(250);
    caught = (await findFallen(stack, journal, mutant)).find((violation) => !before.has(violation));
  }
  await load.abandon();
  if (mutant !== 'commitNotDurable') await stack.become(null);
  return caught ?? null;
}

class StartingEngine extends PaymentsEngine {
  override reportPaid(): Promise<'signalled'> {
    return Promise.resolve('signalled');
  }
}

function recoverMissing({ db, client }: Stack): Promise<Recovery> {
  const context = { db, environment: 'sandbox', onDeliveries: () => undefined };
  return recover(context, new StartingEngine(client));
}

/** The violations of the invariants that fall by the mutant. */
async function findFallen(stack: Stack, journal: Journal, mutant: Mutant): Promise<string[]> {
  const verdicts = await judgeAll(stack, journal);
  return MUTANTS[mutant].falls.flatMap((name) => verdicts[name].violations.map((violation) => `${name}: ${violation}`));
}
