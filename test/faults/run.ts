import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { Journal } from './journal';
import { Load } from './load';
import { ALWAYS, INVARIANT_NAMES, ORACLE, type Invariant, type Verdict } from './oracle';
import type { Victim, KillPoint } from './points';
import type { Random } from './random';
import { rewindTemporal, type Rewound } from './rewind';
import { CONVERGES_WITHIN_MS } from './settings';
import type { Stack } from './stack';
import {
  clearProviderFaults,
  planTrials,
  runTrial,
  setBankDelay,
  SHORT_BANK_DELAY_SECONDS,
  type Trial,
  type TrialEnd,
} from './trials';
import { readWorld } from './world';

/** What a run works with. */
export interface Harness {
  readonly stack: Stack;
  readonly journal: Journal;
  readonly random: Random;
}

export interface RunOptions {
  readonly kills: number;
  /** Who live beside the lives that are hit. */
  readonly customers: number;
  /** Once, in the middle, Temporal loses everything and `lunas recover` rebuilds it. */
  readonly losesTemporal: boolean;
  readonly say: (line: string) => void;
}

export interface RunReport {
  readonly trials: readonly (Trial & TrialEnd)[];
  readonly lives: number;
  readonly requests: number;
  readonly payments: number;
  readonly webhooks: number;
  /** Breaks that `lunas reconcile` found and had followed up. */
  readonly reconciled: number;
  readonly recovered: string | null;
  /** What `lunas recover` printed each time that Temporal's database was put back. */
  readonly rewound: readonly string[];
  /** From the last fault of each round until all agreed. */
  readonly convergedMs: readonly number[];
  readonly verdicts: Readonly<Record<Invariant, Verdict>>;
}

/** Between these the faults stop, and everything has to come to rest. */
const KILLS_A_ROUND = 48;
/** Webhooks whose worker died come after the time-out of their attempt. */
const WEBHOOKS_ARRIVE_WITHIN_MS = 120_000;

/** Lives under faults, round by round; the oracle has the last word. */
export async function runFaults(stack: Stack, random: Random, options: RunOptions): Promise<RunReport> {
  const { kills, customers, say } = options;
  const journal = new Journal();
  const harness = { stack, journal, random };
  const trials = planTrials(random, kills);
  const done: (Trial & TrialEnd)[] = [];
  const convergedMs: number[] = [];
  const unfinished: string[] = [];
  const rewound: string[] = [];
  let [lives, reconciled, recovered]: [number, number, string | null] = [0, 0, null];
  let verdicts = await judgeAll(stack, journal);

  for (let from = 0; from < trials.length; from += KILLS_A_ROUND) {
    const round = trials.slice(from, from + KILLS_A_ROUND);
    // Two kinds of acquirers keep an order from being opened twice in two ways.
    await stack.become(null, (from / KILLS_A_ROUND) % 2 === 0 ? 'forgetful' : 'mindful');
    const killAll = async (load: Load) => {
      for (const [index, trial] of round.entries()) {
        const ended = await runTrial(stack, load, trial);
        done.push({ ...trial, ...ended });
        const { how, victim, point } = trial;
        const [reached, over] = [ended.reachedMs, ended.overMs].map(inSeconds);
        say(
          `${from + index + 1}/${trials.length} ${how} ${victim} at ${point}: ${ended.end} after ${reached}, over after ${over}`,
        );
      }
      if (options.losesTemporal && recovered === null) {
        recovered = await loseTemporal(stack);
        say(`Temporal lost everything; lunas recover: ${recovered}`);
      }
    };
    const reconcile = async () => {
      reconciled += breaksIn(await stack.runLunas('reconcile'));
    };
    // A refund whose confirmation was never reported is queried ever less often: its customer would wait too long.
    const { load, stoppedAt } = await runLoad(harness, customers, killAll, reconcile);
    // For money of which the provider told nobody; else Temporal does that every hour.
    await reconcile();
    verdicts = await converge(harness, stoppedAt);
    convergedMs.push(Math.round(performance.now() - stoppedAt));
    lives += load.lives;
    unfinished.push(...load.unfinished);
    say(`the faults stopped ${inSeconds(convergedMs.at(-1) ?? 0)} ago; violations: ${countOf(verdicts)}`);
    if (countOf(verdicts) > 0) break;

    const rewind = await runRewind(harness, customers, () => stack.runLunas('recover'));
    verdicts = rewind.verdicts;
    rewound.push(rewind.recovered);
    lives += rewind.lives;
    say(`Temporal was put back; lunas recover: ${rewind.recovered}; violations: ${countOf(verdicts)}`);
    if (countOf(verdicts) > 0) break;
  }
  // What did not agree in time stays a violation, even if it agrees later.
  if (countOf(verdicts) === 0) verdicts = await awaitWebhooks(harness);
  return {
    trials: done,
    lives,
    requests: journal.entries.length,
    payments: journal.created().size,
    webhooks: stack.receiver.tries.length,
    reconciled,
    recovered,
    rewound,
    convergedMs,
    verdicts: withUnfinished(verdicts, unfinished),
  };
}

interface EndedLoad {
  readonly load: Load;
  /** When the faults stopped (`performance.now`). */
  readonly stoppedAt: number;
}

/** What the oracle finds wrong: all has to agree in time, and no delivery may stay pending. */
export async function judgeAtRest(harness: Harness, { load, stoppedAt }: EndedLoad): Promise<string[]> {
  const converged = await converge(harness, stoppedAt);
  const verdicts = countOf(converged) > 0 ? converged : await awaitWebhooks(harness);
  return violationsOf(withUnfinished(verdicts, load.unfinished));
}

/** Customers live their lives while the fault happens; then no new life begins, and those that were begun come to an end. */
export async function runLoad(
  { stack, journal, random }: Harness,
  customers: number,
  fault: (load: Load) => Promise<void>,
  whileStopping: () => Promise<void> = async () => undefined,
): Promise<EndedLoad> {
  const load = new Load(stack, journal, random);
  load.start(customers);
  await fault(load);
  await clearProviderFaults(stack);
  await setBankDelay(stack, SHORT_BANK_DELAY_SECONDS);
  const stoppedAt = performance.now();
  await whileStopping();
  await load.stop();
  return { load, stoppedAt };
}

export interface RewindReport {
  readonly recovered: string;
  readonly lives: number;
  readonly verdicts: RunReport['verdicts'];
}

/** Temporal's database is replaced by an older copy under load. The recovery alone, without `lunas reconcile`, has to make all agree. */
export async function runRewind(
  harness: Harness,
  customers: number,
  recover: () => Promise<unknown>,
): Promise<RewindReport> {
  const { stack } = harness;
  let rewound: Rewound = { recovered: '', recoveredAt: 0, unfinished: [] };
  const { load } = await runLoad(harness, customers, async (load) => {
    rewound = await rewindTemporal(stack, load, recover);
  });
  const verdicts = await converge(harness, rewound.recoveredAt);
  const unfinished = [...rewound.unfinished, ...load.unfinished];
  return { recovered: rewound.recovered, lives: load.lives, verdicts: withUnfinished(verdicts, unfinished) };
}

export function inSeconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}

/** How often each victim was hit at each point. */
export function countHits(trials: RunReport['trials'], victim: Victim, point: KillPoint): number {
  return trials
    .filter((trial) => trial.how === 'kill' && trial.end === 'hit')
    .filter((trial) => trial.victim === victim && trial.point === point).length;
}

export function countOf(verdicts: RunReport['verdicts']): number {
  return INVARIANT_NAMES.reduce((count, name) => count + verdicts[name].violations.length, 0);
}

/** In one list. An invariant without a check counts too: an oracle that looked at nothing finds nothing. */
export function violationsOf(verdicts: RunReport['verdicts']): string[] {
  return INVARIANT_NAMES.flatMap((name) => {
    const { checks, violations } = verdicts[name];
    return checks === 0 ? [`${name} was not checked`] : violations.map((violation) => `${name}: ${violation}`);
  });
}

export async function judgeAll(stack: Stack, journal: Journal): Promise<Record<Invariant, Verdict>> {
  const world = await readWorld(stack, journal);
  return {
    I1: ORACLE.I1(world),
    I2: ORACLE.I2(world),
    I3: ORACLE.I3(world),
    I4: ORACLE.I4(world),
    I5: ORACLE.I5(world),
    I6: ORACLE.I6(world),
    I7: ORACLE.I7(world),
    I8: ORACLE.I8(world),
  };
}

async function converge({ stack, journal }: Harness, sinceMs: number): Promise<Record<Invariant, Verdict>> {
  for (;;) {
    const verdicts = await judgeAll(stack, journal);
    const isOver =
      performance.now() - sinceMs > CONVERGES_WITHIN_MS || ALWAYS.some((name) => isViolated(verdicts, name));
    if (isOver || countOf(verdicts) === 0) return verdicts;
    await sleep(500);
  }
}

function isViolated(verdicts: RunReport['verdicts'], name: Invariant): boolean {
  return verdicts[name].violations.length > 0;
}

/** In the end no delivery is pending. */
export async function awaitWebhooks({ stack, journal }: Harness): Promise<Record<Invariant, Verdict>> {
  const deadline = performance.now() + WEBHOOKS_ARRIVE_WITHIN_MS;
  for (;;) {
    const { rows } = await stack.db.query<{ pending: number }>(
      `select count(*) as pending from webhook_deliveries where status = 'pending'`,
    );
    const pending = rows[0]?.pending ?? 0;
    if (pending > 0 && performance.now() < deadline) {
      await sleep(1_000);
      continue;
    }
    const verdicts = await judgeAll(stack, journal);
    if (pending === 0) return verdicts;
    const violations = [...verdicts.I5.violations, `${pending} deliveries are still pending`];
    return { ...verdicts, I5: { checks: verdicts.I5.checks + 1, violations } };
  }
}

/** What did not come to its end, whoever waited for it, is stuck. */
function withUnfinished(
  verdicts: Record<Invariant, Verdict>,
  unfinished: readonly string[],
): Record<Invariant, Verdict> {
  const { checks, violations } = verdicts.I8;
  return { ...verdicts, I8: { checks: checks + 1, violations: [...violations, ...unfinished] } };
}

const reconciliationSchema = z.object({ reconciliation: z.object({ breaks: z.array(z.unknown()) }) });

function breaksIn(printed: unknown): number {
  return reconciliationSchema.parse(printed).reconciliation.breaks.length;
}

/** Everything that Temporal knew is gone; whoever runs Lunas does what the handbook says. */
async function loseTemporal(stack: Stack): Promise<string> {
  await stack.wipeTemporal();
  await stack.kill('worker');
  await stack.revive('worker');
  return JSON.stringify(await stack.runLunas('recover'));
}
