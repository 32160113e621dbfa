import { setTimeout as sleep } from 'node:timers/promises';
import type { PoolClient } from 'pg';
import type { FaultKind, FaultOperation } from '../../src/sandbox/faults';
import { KILL_POINT_NAMES, KILL_POINTS, VICTIMS, type KillPoint, type Victim, type Witness } from './kill-points';
import type { Random } from './random';
import type { ServiceProcess } from './service-process';
import type { FaultStack } from './stack';
import type { Workload } from './workload';

/** One fault: the victim is killed or stopped when a payment reaches the kill point. */
export interface Trial {
  readonly point: KillPoint;
  readonly victim: Victim;
  /** `stop`: SIGSTOP for some seconds, while another worker takes over. */
  readonly how: 'kill' | 'stop';
  readonly witness: Witness;
  /** K11 is reached twice: before the settlement is recorded, and after. */
  readonly occurrence: number;
  /** From the kill to the restart. */
  readonly pauseMs: number;
  /** An injected fault of the provider at the same time. */
  readonly provider: { readonly operation: FaultOperation; readonly kind: FaultKind } | null;
  /** The bank's new delay from a refund's request to its confirmation; absent: unchanged. */
  readonly bankDelaySeconds?: number;
}

/** Every victim at every point, shuffled, repeated up to `kills`; after each 12 kills one worker is stopped. */
export function planTrials(random: Random, kills: number): Trial[] {
  const cells = KILL_POINT_NAMES.flatMap((point) => VICTIMS.map((victim) => ({ point, victim })));
  const trials: Trial[] = [];
  for (let remaining = random.shuffle(cells), planned = 0; planned < kills; planned += 1) {
    const cell = remaining.pop();
    if (remaining.length === 0) remaining = random.shuffle(cells);
    if (cell) trials.push(trialOf(random, cell, 'kill'));
    if (planned % STOP_AFTER_KILLS === STOP_AFTER_KILLS - 1) {
      const point = STOPPED_AT[Math.floor(planned / STOP_AFTER_KILLS) % STOPPED_AT.length];
      if (point) trials.push(trialOf(random, { point, victim: 'worker' }, 'stop'));
    }
  }
  let bankDelaySeconds = 0;
  return trials.map((trial, index) => {
    if (index % TRIALS_OF_ONE_BANK_DELAY === 0) bankDelaySeconds = bankDelayOf(random);
    return Object.assign(trial, { bankDelaySeconds });
  });
}

/** Several trials, so that a refund waits for the bank during several faults. */
const TRIALS_OF_ONE_BANK_DELAY = 6;
const MAX_BANK_DELAY_SECONDS = 120;
/** At the end of a round a slow bank would violate I7 and I8. */
export const SHORT_BANK_DELAY_SECONDS = 1;

/** Mostly short, because a customer does nothing else while a refund waits. */
function bankDelayOf(random: Random): number {
  return random.chance(0.4) ? random.between(3, MAX_BANK_DELAY_SECONDS) : random.between(0, 2);
}

const STOP_AFTER_KILLS = 12;
/** Before a write, or between a call to the provider and its record. */
const STOPPED_AT: readonly KillPoint[] = ['K3', 'K4', 'K10', 'K11', 'K12', 'K9', 'K2'];
/** Longer than Temporal's task timeout, so that another worker executes the task; sometimes shorter than an attempt. */
const STOPPED_MS = { min: 4_000, max: 8_000 } as const;

const LOST_CALLS = ['reset', 'http_500', 'accept_then_reset', 'half_body', 'accept_then_timeout'] as const;
const CALLS = ['charge', 'status', 'cancel', 'expire', 'refund'] as const;
const CORRUPT_NOTIFICATIONS = ['silent', 'reset', 'bad_signature', 'accept_then_reset'] as const;

function trialOf(random: Random, { point, victim }: Pick<Trial, 'point' | 'victim'>, how: Trial['how']): Trial {
  const { witnesses } = KILL_POINTS[point];
  const own = witnesses.find((witness) => witness === victim);
  const isCall = random.chance(0.7);
  return {
    point,
    victim,
    how,
    witness: own ?? random.pick<Witness>(witnesses),
    occurrence: point === 'K11' && random.chance(0.5) ? 2 : 1,
    pauseMs: how === 'stop' ? random.between(STOPPED_MS.min, STOPPED_MS.max) : random.between(0, 500),
    provider: !random.chance(0.3)
      ? null
      : isCall
        ? { operation: random.pick(CALLS), kind: random.pick(LOST_CALLS) }
        : { operation: 'notify', kind: random.pick(CORRUPT_NOTIFICATIONS) },
  };
}

/** `missed`: no payment reached the point in time, so nothing was killed. */
export interface TrialResult {
  readonly outcome: 'hit' | 'missed';
  /** Until a payment reached the point, and until everything ran again. */
  readonly reachedMs: number;
  readonly overMs: number;
}

const HIT_TIMEOUT_MS = 30_000;

/** Waits until a payment reaches the point, kills or stops the victim, and restarts it. */
export async function runTrial(stack: FaultStack, workload: Workload, trial: Trial): Promise<TrialResult> {
  const startedAt = performance.now();
  const sinceStart = () => Math.round(performance.now() - startedAt);
  let reachedMs = 0;
  const outcome = await hit(stack, workload, trial, () => {
    reachedMs = sinceStart();
  });
  return { outcome, reachedMs, overMs: sinceStart() };
}

async function hit(
  stack: FaultStack,
  workload: Workload,
  { point, victim, how, witness, occurrence, pauseMs, provider, bankDelaySeconds }: Trial,
  onReached: () => void,
): Promise<TrialResult['outcome']> {
  if (bankDelaySeconds !== undefined) await setBankDelay(stack, bankDelaySeconds);
  if (provider) await setProviderFault(stack, provider);
  const service = stack.service(witness);
  const reached = service.armBreakpoint(point, occurrence, HIT_TIMEOUT_MS);
  workload.startScenario(KILL_POINTS[point].scenario);
  if (!(await reached)) return 'missed';
  onReached();
  if (how === 'stop') {
    await stopForAWhile(stack, pauseMs);
    return 'hit';
  }
  if (point === 'K8') {
    await killInsideStatement(stack, service, victim);
  } else {
    await stack.kill(victim);
    service.resume();
  }
  await sleep(pauseMs);
  await stack.revive(victim);
  return 'hit';
}

/** The time in which a resumed worker could do harm. */
const AWAKE_MS = 3_000;

/** Another worker takes over. Then the first worker continues where it was stopped. */
async function stopForAWhile(stack: FaultStack, stoppedMs: number): Promise<void> {
  const stopped = await stack.replaceStoppedWorker();
  await sleep(stoppedMs);
  stopped.signal('SIGCONT');
  stopped.resume();
  await sleep(AWAKE_MS);
  stopped.signal('SIGKILL');
}

/** Kills when all is written and nothing committed: the statement waits for the endpoints of its deliveries. */
async function killInsideStatement(stack: FaultStack, service: ServiceProcess, victim: Victim): Promise<void> {
  const holder = await stack.db.connect();
  // The connection breaks if PostgreSQL is the victim.
  holder.on('error', () => undefined);
  try {
    await holder.query('begin');
    await holder.query('select from webhook_endpoints for update');
    service.resume();
    await waitForHeldStatement(holder);
    await stack.kill(victim);
    await holder.query('rollback').catch(() => undefined);
  } finally {
    holder.release(true);
  }
}

async function waitForHeldStatement(holder: PoolClient): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const { rowCount } = await holder.query(
      `select from pg_stat_activity where wait_event_type = 'Lock' and query like '%with changed as%'`,
    );
    if (rowCount) return;
    await sleep(10);
  }
}

export async function setBankDelay({ sandbox }: FaultStack, seconds: number): Promise<void> {
  await fetch(`${sandbox.url}/simulator/bank`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ refund_confirms_after_seconds: seconds }),
  });
}

export async function setProviderFault(
  { sandbox }: FaultStack,
  fault: NonNullable<Trial['provider']>,
  times = 1,
): Promise<void> {
  await fetch(`${sandbox.url}/simulator/faults`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...fault, times }),
  });
}

export async function clearProviderFaults({ sandbox }: FaultStack): Promise<void> {
  await fetch(`${sandbox.url}/simulator/faults`, { method: 'DELETE' });
}
