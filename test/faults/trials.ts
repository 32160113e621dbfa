import { setTimeout as sleep } from 'node:timers/promises';
import type { PoolClient } from 'pg';
import type { FaultKind, FaultOperation } from '../../src/sandbox/faults';
import {
  isPayoutPoint,
  KILL_POINT_NAMES,
  KILL_POINTS,
  victimsOf,
  type KillPoint,
  type Victim,
  type Witness,
} from './kill-points';
import type { Random } from './random';
import type { ServiceProcess } from './service-process';
import type { FaultStack } from './stack';
import type { Workload } from './workload';

/** One fault: the victim is killed or stopped when a payment or a payout reaches the kill point. */
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
  /** An injected fault of the acquirer or the bank at the same time. */
  readonly provider: { readonly operation: FaultOperation; readonly kind: FaultKind } | null;
  /** The bank's new delay from a refund's request to its confirmation; absent: unchanged. */
  readonly bankDelaySeconds?: number;
}

/**
 * Each point once, shuffled, and again with other victims up to `kills`: every victim at every point comes before one
 * comes twice. After each nine kills a worker is stopped.
 */
export function planTrials(random: Random, kills: number): Trial[] {
  const victims = new Map<KillPoint, Victim[]>();
  const trials: Trial[] = [];
  for (let points: KillPoint[] = [], planned = 0; planned < kills; planned += 1) {
    if (points.length === 0) points = random.shuffle(KILL_POINT_NAMES);
    const point = points.pop();
    if (!point) throw new Error('no kill points');
    const remaining = victims.get(point) ?? [];
    if (remaining.length === 0) remaining.push(...random.shuffle(victimsOf(point)));
    victims.set(point, remaining);
    const victim = remaining.pop();
    if (victim) trials.push(trialOf(random, { point, victim }, 'kill'));
    if (planned % STOP_AFTER_KILLS === STOP_AFTER_KILLS - 1) {
      const stopped = STOPPED_AT[Math.floor(planned / STOP_AFTER_KILLS) % STOPPED_AT.length];
      if (stopped) trials.push(trialOf(random, stopped, 'stop'));
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

const STOP_AFTER_KILLS = 9;
const ofWorker = (point: KillPoint) => ({ point, victim: 'worker' }) as const;
const ofPayouts = (point: KillPoint) => ({ point, victim: 'payouts' }) as const;
/** Before a write, or between a call to the acquirer or the bank and its record. */
const STOPPED_AT: readonly Pick<Trial, 'point' | 'victim'>[] = [
  ofWorker('K3'),
  ofPayouts('K14'),
  ofWorker('K4'),
  ofPayouts('K15'),
  ofWorker('K10'),
  ofPayouts('K14'),
  ...(['K11', 'K12', 'K9', 'K2'] as const).map(ofWorker),
];
/** Longer than Temporal's task timeout, so that another worker executes the task; sometimes shorter than an attempt. */
const STOPPED_MS = { min: 4_000, max: 8_000 } as const;
/** Sometimes longer than the attempt that has the permission for a call to the bank. */
const STOPPED_AT_BANK_MS = { min: 4_000, max: 18_000 } as const;

const LOST_CALLS = ['reset', 'http_500', 'accept_then_reset', 'half_body', 'accept_then_timeout'] as const;
const CALLS = ['charge', 'status', 'cancel', 'expire', 'refund'] as const;
const BANK_CALLS = ['transfer', 'transfer', 'transfer_status', 'token'] as const;
const CORRUPT_NOTIFICATIONS = ['silent', 'reset', 'bad_signature', 'accept_then_reset'] as const;

function trialOf(random: Random, { point, victim }: Pick<Trial, 'point' | 'victim'>, how: Trial['how']): Trial {
  const { witnesses } = KILL_POINTS[point];
  const own = witnesses.find((witness) => witness === victim);
  const { min, max } = isPayoutPoint(point) ? STOPPED_AT_BANK_MS : STOPPED_MS;
  return {
    point,
    victim,
    how,
    witness: own ?? random.pick<Witness>(witnesses),
    occurrence: point === 'K11' && random.chance(0.5) ? 2 : 1,
    pauseMs: how === 'stop' ? random.between(min, max) : random.between(0, 500),
    provider: random.chance(0.33) ? faultOf(random, point) : null,
  };
}

/** A fault of the bank at points of payouts, else of the acquirer. */
function faultOf(random: Random, point: KillPoint): Trial['provider'] {
  const isBank = isPayoutPoint(point);
  return random.chance(0.7)
    ? { operation: random.pick<FaultOperation>(isBank ? BANK_CALLS : CALLS), kind: random.pick(LOST_CALLS) }
    : { operation: isBank ? 'transfer_notify' : 'notify', kind: random.pick(CORRUPT_NOTIFICATIONS) };
}

/** `missed`: nothing reached the point in time, so nothing was killed. */
export interface TrialResult {
  readonly outcome: 'hit' | 'missed';
  /** Until the point was reached, and until everything ran again. */
  readonly reachedMs: number;
  readonly overMs: number;
}

const HIT_TIMEOUT_MS = 30_000;

/** Waits until a payment or a payout reaches the point, kills or stops the victim, and restarts it. */
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
    await stopForAWhile(stack, victim === 'payouts' ? 'payouts' : 'worker', pauseMs);
    return 'hit';
  }
  const statement = HELD_STATEMENTS[point];
  if (statement !== undefined) {
    await killInsideStatement(stack, service, { statement, victim });
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
async function stopForAWhile(stack: FaultStack, name: 'worker' | 'payouts', stoppedMs: number): Promise<void> {
  const stopped = await stack.replaceStoppedWorker(name);
  await sleep(stoppedMs);
  stopped.signal('SIGCONT');
  stopped.resume();
  await sleep(AWAKE_MS);
  stopped.signal('SIGKILL');
}

/** By the points that are inside a statement, what the statement contains. */
const HELD_STATEMENTS: Readonly<Partial<Record<KillPoint, string>>> = {
  K8: 'with changed as',
  K16: "update payouts set status = 'completed'",
};

/** Kills when all is written and nothing committed: the statement waits for the endpoints of its deliveries. */
async function killInsideStatement(
  stack: FaultStack,
  service: ServiceProcess,
  { statement, victim }: { readonly statement: string; readonly victim: Victim },
): Promise<void> {
  const holder = await stack.db.connect();
  // The connection breaks if PostgreSQL is the victim.
  holder.on('error', () => undefined);
  try {
    await holder.query('begin');
    await holder.query('select from webhook_endpoints for update');
    service.resume();
    await waitForHeldStatements(holder, { statement });
    await stack.kill(victim);
    await holder.query('rollback').catch(() => undefined);
  } finally {
    holder.release(true);
  }
}

interface HeldStatements {
  /** What each of them contains at its beginning: PostgreSQL shows 1,024 bytes. */
  readonly statement: string;
  readonly count?: number;
  readonly timeoutMs?: number;
}

/** Waits until statements wait for a lock. After the timeout the trial goes on without them. */
export async function waitForHeldStatements(
  holder: PoolClient,
  { statement, count = 1, timeoutMs = 1_000 }: HeldStatements,
): Promise<void> {
  for (const untilMs = performance.now() + timeoutMs; performance.now() < untilMs; await sleep(10)) {
    // A transaction keeps what it has read of the activity.
    await holder.query('select pg_stat_clear_snapshot()');
    const { rowCount } = await holder.query(
      `select from pg_stat_activity
       where wait_event_type = 'Lock' and pid <> pg_backend_pid() and position($1 in query) > 0`,
      [statement],
    );
    if ((rowCount ?? 0) >= count) return;
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
