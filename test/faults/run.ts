import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { Journal } from './journal';
import { Load } from './load';
import { ALWAYS, INVARIANT_NAMES, ORACLE, type Invariant, type Verdict } from './oracle';
import type { Victim, KillPoint } from './points';
import type { Random } from './random';
import type { Stack } from './stack';
import { planTrials, runTrial, setBankDelay, SHORT_BANK_DELAY_SECONDS, type Trial, type TrialEnd } from './trials';
import { readWorld } from './world';

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
  /** From the last fault of each round until all agreed. */
  readonly convergedMs: readonly number[];
  readonly verdicts: Readonly<Record<Invariant, Verdict>>;
}

/** Between these the faults stop, and everything has to come to rest. */
const KILLS_A_ROUND = 48;
/** proof.md: PostgreSQL, workflows and provider agree within a minute. */
export const CONVERGES_WITHIN_MS = 60_000;
/** Webhooks whose worker died come after the time-out of their attempt. */
const WEBHOOKS_ARRIVE_WITHIN_MS = 120_000;

/** Lives under faults, round by round; the oracle has the last word. */
export async function runFaults(stack: Stack, random: Random, options: RunOptions): Promise<RunReport> {
  const { kills, customers, say } = options;
  const journal = new Journal();
  const target = { apiUrl: stack.apiUrl, sandboxUrl: stack.sandbox.url, secretKey: stack.secretKey };
  const trials = planTrials(random, kills);
  const done: (Trial & TrialEnd)[] = [];
  const convergedMs: number[] = [];
  const unfinished: string[] = [];
  let [lives, reconciled, recovered]: [number, number, string | null] = [0, 0, null];
  let verdicts = await judgeAll(stack, journal);

  for (let from = 0; from < trials.length; from += KILLS_A_ROUND) {
    const round = trials.slice(from, from + KILLS_A_ROUND);
    // Two kinds of acquirers keep an order from being opened twice in two ways.
    await stack.become(null, (from / KILLS_A_ROUND) % 2 === 0 ? 'forgetful' : 'mindful');
    const load = new Load(target, journal, random);
    load.start(customers);
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
    await clearProviderFaults(stack);
    await setBankDelay(stack, SHORT_BANK_DELAY_SECONDS);
    const stoppedAt = performance.now();
    // A refund whose confirmation was never reported is queried ever less often: its customer would wait too long.
    reconciled += breaksIn(await stack.runLunas('reconcile'));
    await load.stop();
    // For money of which the provider told nobody; else Temporal does that every hour.
    reconciled += breaksIn(await stack.runLunas('reconcile'));
    verdicts = await converge(stack, journal, stoppedAt);
    convergedMs.push(Math.round(performance.now() - stoppedAt));
    lives += load.lives;
    unfinished.push(...load.unfinished);
    say(`the faults stopped ${inSeconds(convergedMs.at(-1) ?? 0)} ago; violations: ${countOf(verdicts)}`);
    if (countOf(verdicts) > 0) break;
  }
  verdicts = await awaitWebhooks(stack, journal);
  return {
    trials: done,
    lives,
    requests: journal.entries.length,
    payments: journal.created().size,
    webhooks: stack.receiver.tries.length,
    reconciled,
    recovered,
    convergedMs,
    verdicts: withUnfinished(verdicts, unfinished),
  };
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

async function converge(stack: Stack, journal: Journal, sinceMs: number): Promise<Record<Invariant, Verdict>> {
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
async function awaitWebhooks(stack: Stack, journal: Journal): Promise<Record<Invariant, Verdict>> {
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

function withUnfinished(verdicts: Record<Invariant, Verdict>, unfinished: readonly string[]): RunReport['verdicts'] {
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

async function clearProviderFaults({ sandbox }: Stack): Promise<void> {
  await fetch(`${sandbox.url}/simulator/faults`, { method: 'DELETE' });
}
