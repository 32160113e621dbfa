import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { ALWAYS, INVARIANT_NAMES, PAYMENT_INVARIANTS, type Invariant } from './invariants';
import { Journal } from './journal';
import type { KillPoint, Victim } from './kill-points';
import { readObservedState } from './observed-state';
import { evaluateAll, type InvariantResults } from './oracle';
import type { Random } from './random';
import { rewindTemporal, type Rewound } from './rewind';
import { CONVERGENCE_TIMEOUT_MS } from './settings';
import type { FaultStack } from './stack';
import {
  clearProviderFaults,
  planTrials,
  runTrial,
  setBankDelay,
  SHORT_BANK_DELAY_SECONDS,
  type Trial,
  type TrialResult,
} from './trials';
import { Workload } from './workload';

export interface FaultHarness {
  readonly stack: FaultStack;
  readonly journal: Journal;
  readonly random: Random;
  /** Whether the merchants of the workload have payouts. */
  readonly hasPayouts: boolean;
}

export interface RunOptions {
  readonly kills: number;
  /** Customers that run scenarios beside the scenarios of the trials. */
  readonly customers: number;
  /** Once, Temporal's database is deleted, and `lunas recover` rebuilds the workflows. */
  readonly losesTemporal: boolean;
  readonly log: (line: string) => void;
}

export interface RunReport {
  readonly trials: readonly (Trial & TrialResult)[];
  readonly scenarios: number;
  readonly requests: number;
  readonly payments: number;
  readonly payouts: number;
  readonly webhooks: number;
  /** Breaks that `lunas reconcile` found. */
  readonly reconciled: number;
  readonly recovered: string | null;
  /** What `lunas recover` printed each time after Temporal's database was restored. */
  readonly rewound: readonly string[];
  /** From the end of the faults of each round until all agreed. */
  readonly convergedMs: readonly number[];
  readonly results: InvariantResults;
}

/** After a round the faults stop, and all invariants have to hold. */
const KILLS_PER_ROUND = 57;
/**
 * A daily run of payouts is repeated after a minute, so its scenario may take longer than the convergence. Then there
 * is a quarter of a minute for the workflows that the reconciliation has started.
 */
const MAX_BEFORE_CONVERGENCE_MS = CONVERGENCE_TIMEOUT_MS - 15_000;
const LONG_RUNS_TIMEOUT_MS = 180_000;
/** The webhooks of a killed worker are repeated after the timeout of their attempt. */
const WEBHOOK_ARRIVAL_TIMEOUT_MS = 120_000;

/** Runs the workload under faults, round by round, and evaluates the invariants. */
export async function runFaults(stack: FaultStack, random: Random, options: RunOptions): Promise<RunReport> {
  const { kills, customers, log } = options;
  const journal = new Journal();
  const harness = { stack, journal, random, hasPayouts: true };
  const trials = planTrials(random, kills);
  const done: (Trial & TrialResult)[] = [];
  const convergedMs: number[] = [];
  const unfinished: string[] = [];
  const rewound: string[] = [];
  let [scenarios, reconciled, recovered]: [number, number, string | null] = [0, 0, null];
  let results = await evaluateInvariants(stack, journal);

  for (let from = 0; from < trials.length; from += KILLS_PER_ROUND) {
    const round = trials.slice(from, from + KILLS_PER_ROUND);
    // The acquirers and banks of even and odd rounds prevent a second order in different ways.
    await stack.restartWith(null, (from / KILLS_PER_ROUND) % 2 === 0 ? 'forgetful' : 'late');
    const killAll = async (workload: Workload) => {
      for (const [index, trial] of round.entries()) {
        const result = await runTrial(stack, workload, trial);
        done.push({ ...trial, ...result });
        const { how, victim, point } = trial;
        const [reached, over] = [result.reachedMs, result.overMs].map(inSeconds);
        log(
          `${from + index + 1}/${trials.length} ${how} ${victim} at ${point}: ` +
            `${result.outcome} after ${reached}, over after ${over}`,
        );
      }
      if (options.losesTemporal && recovered === null) {
        recovered = await loseTemporal(stack);
        log(`Temporal's database was deleted; lunas recover: ${recovered}`);
      }
    };
    const reconcile = async () => {
      reconciled += countBreaks(await stack.runLunas('reconcile'));
      await awaitLongRuns(stack);
    };
    // A refund without a notification is queried less and less often: its customer would wait too long.
    const { workload, stoppedAt } = await runWorkload(harness, customers, killAll, reconcile);
    // For payments without a notification. In production Temporal reconciles every hour.
    await reconcile();
    results = await converge(harness, Math.max(stoppedAt, performance.now() - MAX_BEFORE_CONVERGENCE_MS));
    convergedMs.push(Math.round(performance.now() - stoppedAt));
    scenarios += workload.scenarios;
    unfinished.push(...workload.unfinished);
    log(`the faults stopped ${inSeconds(convergedMs.at(-1) ?? 0)} ago; violations: ${countOf(results)}`);
    if (countOf(results) > 0) break;

    const rewind = await runRewind(harness, customers, () => stack.runLunas('recover'));
    results = rewind.results;
    rewound.push(rewind.recovered);
    scenarios += rewind.scenarios;
    log(`Temporal's database was restored; lunas recover: ${rewind.recovered}; violations: ${countOf(results)}`);
    if (countOf(results) > 0) break;
  }
  // A disagreement after the timeout stays a violation, even if it disappears later.
  if (countOf(results) === 0) results = await awaitWebhooks(harness);
  return {
    trials: done,
    scenarios,
    requests: journal.entries.length,
    payments: journal.created().size,
    payouts: journal.payouts.requested.length,
    webhooks: stack.receiver.attempts.length,
    reconciled,
    recovered,
    rewound,
    convergedMs,
    results: withUnfinished(results, unfinished),
  };
}

interface FinishedWorkload {
  readonly workload: Workload;
  /** When the faults stopped (`performance.now`). */
  readonly stoppedAt: number;
}

/**
 * Reconciles first: a create that took long may have returned an expired payment, and a customer may have paid it
 * without a notification. In production Temporal reconciles every hour.
 * @returns the violations, if not all agree in time or a delivery stays pending
 */
export async function evaluateAtRest(
  harness: FaultHarness,
  { workload, stoppedAt }: FinishedWorkload,
): Promise<string[]> {
  await harness.stack.runLunas('reconcile');
  const converged = await converge(harness, stoppedAt);
  const results = countOf(converged) > 0 ? converged : await awaitWebhooks(harness);
  const expected = harness.hasPayouts ? INVARIANT_NAMES : PAYMENT_INVARIANTS;
  return violationsOf(withUnfinished(results, workload.unfinished), expected);
}

/** Runs scenarios while the fault happens. Then no scenario starts, and the running ones complete. */
export async function runWorkload(
  { stack, journal, random, hasPayouts }: FaultHarness,
  customers: number,
  injectFault: (workload: Workload) => Promise<void>,
  whileStopping: () => Promise<void> = async () => undefined,
): Promise<FinishedWorkload> {
  const workload = new Workload(stack, journal, random, hasPayouts);
  workload.start(customers);
  await injectFault(workload);
  await clearProviderFaults(stack);
  await setBankDelay(stack, SHORT_BANK_DELAY_SECONDS);
  const stoppedAt = performance.now();
  await whileStopping();
  await workload.stop();
  return { workload, stoppedAt };
}

export interface RewindReport {
  readonly recovered: string;
  readonly scenarios: number;
  readonly results: InvariantResults;
}

/** Restores an older Temporal database under load. The recovery alone, without `lunas reconcile`, has to suffice. */
export async function runRewind(
  harness: FaultHarness,
  customers: number,
  recover: () => Promise<unknown>,
): Promise<RewindReport> {
  const { stack } = harness;
  let rewound: Rewound = { recovered: '', recoveredAt: 0, unfinished: [] };
  const { workload } = await runWorkload(harness, customers, async (workload) => {
    rewound = await rewindTemporal(stack, workload, recover);
  });
  const results = await converge(harness, rewound.recoveredAt);
  const unfinished = [...rewound.unfinished, ...workload.unfinished];
  return { recovered: rewound.recovered, scenarios: workload.scenarios, results: withUnfinished(results, unfinished) };
}

export function inSeconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}

export function countHits(trials: RunReport['trials'], victim: Victim, point: KillPoint): number {
  return trials
    .filter((trial) => trial.how === 'kill' && trial.outcome === 'hit')
    .filter((trial) => trial.victim === victim && trial.point === point).length;
}

export function countOf(results: InvariantResults): number {
  return INVARIANT_NAMES.reduce((count, name) => count + results[name].violations.length, 0);
}

/** An expected invariant without a check counts as a violation: an oracle without data finds nothing. */
export function violationsOf(results: InvariantResults, expected: readonly Invariant[]): string[] {
  return INVARIANT_NAMES.flatMap((name) => {
    const { checks, violations } = results[name];
    return checks === 0 && expected.includes(name)
      ? [`${name} was not checked`]
      : violations.map((violation) => `${name}: ${violation}`);
  });
}

export async function evaluateInvariants(stack: FaultStack, journal: Journal): Promise<InvariantResults> {
  return evaluateAll(await readObservedState(stack, journal));
}

/**
 * A reconciliation gives each payout that rests a new run, of which hundreds take longer than the convergence. So does
 * a daily run, which repeats a merchant who failed after a minute.
 */
async function awaitLongRuns({ client }: FaultStack): Promise<void> {
  const begun =
    "ExecutionStatus = 'Running' and (WorkflowType = 'requestScheduledPayouts' " +
    "or (WorkflowType = 'payout' and PayoutStatus is null))";
  const deadlineAtMs = performance.now() + LONG_RUNS_TIMEOUT_MS;
  while (performance.now() < deadlineAtMs && (await client.workflow.count(begun)).count > 0) await sleep(500);
}

async function converge({ stack, journal }: FaultHarness, sinceMs: number): Promise<InvariantResults> {
  for (;;) {
    const results = await evaluateInvariants(stack, journal);
    const isOver =
      performance.now() - sinceMs > CONVERGENCE_TIMEOUT_MS || ALWAYS.some((name) => isViolated(results, name));
    if (isOver || countOf(results) === 0) return results;
    await sleep(500);
  }
}

function isViolated(results: InvariantResults, name: Invariant): boolean {
  return results[name].violations.length > 0;
}

/** In the end no delivery is pending. */
export async function awaitWebhooks({ stack, journal }: FaultHarness): Promise<InvariantResults> {
  const deadlineAtMs = performance.now() + WEBHOOK_ARRIVAL_TIMEOUT_MS;
  for (;;) {
    const { rows } = await stack.db.query<{ pending: number }>(
      `select count(*) as pending from webhook_deliveries where status = 'pending'`,
    );
    const pending = rows[0]?.pending ?? 0;
    if (pending > 0 && performance.now() < deadlineAtMs) {
      await sleep(1_000);
      continue;
    }
    const results = await evaluateInvariants(stack, journal);
    if (pending === 0) return results;
    const violations = [...results.I5.violations, `${pending} deliveries are still pending`];
    return { ...results, I5: { checks: results.I5.checks + 1, violations } };
  }
}

/** A scenario that did not complete counts as a violation of I8. */
function withUnfinished(results: InvariantResults, unfinished: readonly string[]): InvariantResults {
  const { checks, violations } = results.I8;
  return { ...results, I8: { checks: checks + 1, violations: [...violations, ...unfinished] } };
}

const reconciliationSchema = z.object({ reconciliation: z.object({ breaks: z.array(z.unknown()) }) });

function countBreaks(printed: unknown): number {
  return reconciliationSchema.parse(printed).reconciliation.breaks.length;
}

/** Deletes Temporal's database, and follows the steps of the runbook. */
async function loseTemporal(stack: FaultStack): Promise<string> {
  await stack.wipeTemporal();
  for (const worker of ['worker', 'payouts'] as const) {
    await stack.kill(worker);
    await stack.revive(worker);
  }
  return JSON.stringify(await stack.runLunas('recover'));
}
