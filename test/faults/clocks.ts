import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { z } from 'zod';
import { setPolicy } from '../../src/services/provider-accounts/catalog';
import type { Journal } from './journal';
import { evaluateAtRest, runWorkload, type FaultHarness } from './run';
import type { FaultStack } from './stack';
import { GOPAY_POLICY, SHOPEEPAY_POLICY } from './stack-parts';

const OFF_SECONDS = 600;
/** With a smaller offset the clock was not shifted. */
const MIN_OFFSET_SECONDS = 300;
const CUSTOMERS = 3;
const WORKLOAD_MS = 6_000;
/** Long enough to detect a settlement that is too early. */
const SETTLEMENT_DELAY_SECONDS = 5;
const SECOND_MS = 1_000;

const CASES = [
  { victim: 'postgres', offsetSeconds: OFF_SECONDS },
  { victim: 'postgres', offsetSeconds: -OFF_SECONDS },
  { victim: 'worker', offsetSeconds: OFF_SECONDS },
  { victim: 'worker', offsetSeconds: -OFF_SECONDS },
] as const;

/** Shifts the clock of PostgreSQL, then of the worker, by ten minutes ahead and behind. */
export async function runClocks(harness: FaultHarness): Promise<string[]> {
  const { stack } = harness;
  for (const { victim, offsetSeconds } of CASES) {
    await stack.setClock(victim, offsetSeconds);
    const found = await runAndEvaluate(harness);
    // The signatures show that the worker's clock is off: the receiver checks them with that offset.
    if (victim === 'postgres') found.push(...checkOff('PostgreSQL', await readPostgresClock(stack)));
    if (found.length > 0) return found.map((finding) => `${victim} by ${offsetSeconds} s: ${finding}`);
    await stack.setClock(victim, 0);
  }
  return [];
}

/**
 * Only Temporal has another clock. Its binary reads the kernel's clock without the C library, so libfaketime does not
 * affect it. Therefore the harness is started under libfaketime, and all its other processes have the shifted clock.
 */
export async function runTemporalClock(harness: FaultHarness): Promise<string[]> {
  const found = await runAndEvaluate(harness);
  return [...found, ...checkOff('Temporal', await readTemporalClock(harness))];
}

async function runAndEvaluate(harness: FaultHarness): Promise<string[]> {
  for (const policy of [GOPAY_POLICY, SHOPEEPAY_POLICY]) {
    await setPolicy(harness.stack.db, { ...policy, settlementDelaySeconds: SETTLEMENT_DELAY_SECONDS });
  }
  const found = await evaluateAtRest(harness, await runWorkload(harness, CUSTOMERS, () => sleep(WORKLOAD_MS)));
  return [...found, ...(await findEarly(harness))];
}

function checkOff(name: string, clockMs: number): string[] {
  const isOff = Math.abs(clockMs - Date.now()) > MIN_OFFSET_SECONDS * SECOND_MS;
  return isOff ? [] : [`the clock of ${name} is not off`];
}

async function readPostgresClock({ db }: FaultStack): Promise<number> {
  const { rows } = await db.query<{ now: Date }>('select clock_timestamp() as now');
  return rows[0]?.now.getTime() ?? NaN;
}

/** The start time of a workflow of this run. */
async function readTemporalClock({ stack, journal }: FaultHarness): Promise<number> {
  const [created] = [...journal.created().values()].flat();
  if (!created) return NaN;
  const { startTime } = await stack.client.workflow.getHandle(`payment-${created.id}`).describe();
  return startTime.getTime();
}

const bodySchema = z.object({ id: z.string(), reference_id: z.string() });

/** Webhooks that came too early, by the clock of the harness, the customer and the acquirer. */
async function findEarly({ stack, journal }: FaultHarness): Promise<string[]> {
  const paidAtMs = await readPaidTimes(stack);
  const requestedAtMs = firstRequests(journal);
  return stack.receiver.attempts.flatMap(({ event, rawBody, atMs }) => {
    const { id, reference_id } = bodySchema.parse(JSON.parse(rawBody));
    const settlesAtMs = (paidAtMs.get(reference_id) ?? Infinity) + SETTLEMENT_DELAY_SECONDS * SECOND_MS;
    if (event === 'payment.settled' && atMs < settlesAtMs)
      return [`${id} was settled ${settlesAtMs - atMs} ms too early`];
    const expiresAtMs = (requestedAtMs.get(id) ?? 0) + SHOPEEPAY_POLICY.expiresInSeconds * SECOND_MS;
    if (event === 'payment.expired' && atMs < expiresAtMs) return [`${id} expired ${expiresAtMs - atMs} ms too early`];
    return [];
  });
}

/** The time of the first request for each payment. The payment was created then or later. */
function firstRequests(journal: Journal): Map<string, number> {
  const atMs = new Map<string, number>();
  for (const entry of journal.entries) {
    if (entry.key !== null) atMs.set(entry.key, Math.min(entry.atMs, atMs.get(entry.key) ?? Infinity));
  }
  return new Map(
    [...journal.created()].flatMap(([key, [payment]]) => {
      const requestedAtMs = atMs.get(key);
      return payment && requestedAtMs !== undefined ? [[payment.id, requestedAtMs] as const] : [];
    }),
  );
}

/** From the acquirer's own database, by reference. */
async function readPaidTimes({ ledgerUrl }: FaultStack): Promise<Map<string, number>> {
  const ledger = new Client({ connectionString: ledgerUrl });
  await ledger.connect();
  const { rows } = await ledger.query<{ reference: string; paidAt: Date }>(
    'select order_id as reference, paid_at as "paidAt" from payments where paid_at is not null',
  );
  await ledger.end();
  return new Map(rows.map(({ reference, paidAt }) => [reference, paidAt.getTime()]));
}
