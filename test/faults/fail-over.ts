import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { readRecoveryMode } from '../../src/db/operations/recovery-mode';
import type { ManagedProcess } from '../../src/local-stack/managed-process';
import { freePort } from '../../src/local-stack/ports';
import { PostgresCluster } from '../../src/local-stack/postgres';
import { eventually } from '../support/eventually';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy';
import type { Journal } from './journal';
import { evaluateAtRest, evaluateInvariants, runWorkload, type FaultHarness } from './run';
import type { FaultStack } from './stack';
import { Workload } from './workload';

/** Issue 14: from the promotion of the standby to the first create that succeeds. */
const MAX_WRITE_OUTAGE_MS = 30_000;
const CUSTOMERS = 4;
/** Enough for payments in flight, and for commits that wait for the standby. */
const WORKLOAD_MS = 5_000;
const HANG_MS = 2_000;
const READY_TIMEOUT_MS = 60_000;

interface Standby {
  readonly server: ManagedProcess;
  /** The proxy that carries the primary's WAL. */
  readonly link: TcpProxy;
  /** `127.0.0.1:<port>`. */
  readonly address: string;
  readonly databaseUrl: string;
  /** The proxy at the primary's address after the fail-over. */
  takenOver?: TcpProxy;
}

/** A value of `pg_stat_replication.sync_state`. */
type ReplicationState = 'sync' | 'async';

/** Under load the replication hangs, the primary is killed, and the standby is promoted and takes over its address. */
export async function runFailOver(harness: FaultHarness): Promise<string[]> {
  const { stack, journal } = harness;
  return withStandby(stack, 'sync', async (standby) => {
    let waitedMs = Infinity;
    const finished = await runWorkload(harness, CUSTOMERS, async (workload) => {
      const promotedAtMs = await failOver(stack, standby);
      // Each customer may be waiting for a settlement that recovery mode defers.
      workload.startScenario('settle');
      waitedMs = await waitForCreate(journal, promotedAtMs);
      await endRecovery(stack);
    });
    const finding = `the first create succeeded ${waitedMs} ms after the promotion`;
    return [...(waitedMs > MAX_WRITE_OUTAGE_MS ? [finding] : []), ...(await evaluateAtRest(harness, finished))];
  });
}

/** The same, but the primary acknowledges what the standby does not have. The oracle has to detect it. */
export async function runAsynchronousFailOver({ stack, journal, random }: FaultHarness): Promise<string[]> {
  return withStandby(stack, 'async', async (standby) => {
    const workload = new Workload(stack, journal, random, false);
    workload.start(CUSTOMERS);
    const promotedAtMs = await failOver(stack, standby);
    // Each customer may be waiting for a payment that is lost. One more customer creates a payment in any case.
    workload.startScenario('settle');
    await waitForCreate(journal, promotedAtMs);
    const { I1 } = await evaluateInvariants(stack, journal);
    await workload.abandon();
    return I1.violations.length > 0 ? [] : ['the oracle found no acknowledged payment that was lost'];
  });
}

/** The workers begin recovery mode on the new timeline. Nothing was lost, so an operator ends it. */
async function endRecovery(stack: FaultStack): Promise<void> {
  await eventually(
    () => readRecoveryMode(stack.db),
    ({ begunBy }) => begunBy === 'worker',
    READY_TIMEOUT_MS,
  );
  await stack.runLunas('recovery', 'end', '--lost-nothing', '--note', 'the standby was synchronous');
}

/** @returns when the promotion began */
async function failOver(stack: FaultStack, standby: Standby): Promise<number> {
  await sleep(WORKLOAD_MS);
  standby.link.hang();
  await sleep(HANG_MS);
  await stack.kill('postgres');
  const promotedAtMs = Date.now();
  await promote(standby);
  standby.takenOver = await startTcpProxy(standby.address, Number(new URL(stack.databaseUrl).port));
  return promotedAtMs;
}

async function withStandby(
  stack: FaultStack,
  state: ReplicationState,
  run: (standby: Standby) => Promise<string[]>,
): Promise<string[]> {
  const standby = await startStandby(stack, state);
  try {
    return await run(standby);
  } finally {
    await Promise.all([standby.takenOver?.close(), standby.link.close(), standby.server.stop()]);
  }
}

/** From a cold copy of the primary's cluster: the embedded PostgreSQL comes without `pg_basebackup`. */
async function startStandby(stack: FaultStack, state: ReplicationState): Promise<Standby> {
  const primary = new URL(stack.databaseUrl);
  const link = await startTcpProxy(primary.host);
  let copy = '';
  const settings = { synchronous_standby_names: state === 'sync' ? '*' : '', wal_keep_size: '256MB' };
  await stack.restartPostgres(settings, async (directory) => {
    copy = `${directory}-standby`;
    await copyCluster(directory, copy);
  });
  const port = await freePort();
  const { hostname: host, port: linkPort } = new URL(`tcp://${link.address}`);
  const conninfo = `host=${host} port=${linkPort} user=${primary.username} password=${primary.password}`;
  const files = { directory: copy, logFile: `${copy}.log`, port, settings: { primary_conninfo: conninfo } };
  const { signal } = new AbortController();
  const cluster = await PostgresCluster.open(files, signal);
  const server = await cluster.start(signal);
  await eventually(
    () => countStandbys(stack, state),
    (count) => count === 1,
    READY_TIMEOUT_MS,
  );
  return { server, link, address: `127.0.0.1:${port}`, databaseUrl: cluster.databaseUrl('postgres') };
}

async function copyCluster(from: string, to: string): Promise<void> {
  const run = promisify(execFile);
  // Owner and mode stay: PostgreSQL runs as `nobody` if started by root.
  await run('cp', ['-a', from, to]);
  const data = path.join(to, 'data');
  await rm(path.join(data, 'postmaster.pid'), { force: true });
  // The file marks a standby. Its content does not matter, but it needs the owner of the cluster.
  await run('cp', ['-a', path.join(data, 'PG_VERSION'), path.join(data, 'standby.signal')]);
}

async function countStandbys({ db }: FaultStack, state: ReplicationState): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `select count(*) as count from pg_stat_replication where state = 'streaming' and sync_state = $1`,
    [state],
  );
  return rows[0]?.count ?? 0;
}

/** Promotes the standby as `pg_ctl promote` does. Resolves when the standby accepts writes. */
async function promote({ databaseUrl }: Standby): Promise<void> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  const { rows } = await client.query<{ promoted: boolean }>('select pg_promote() as promoted');
  await client.end();
  if (rows[0]?.promoted !== true) throw new Error('The standby was not promoted');
}

/** @returns the milliseconds from `sinceMs` to the first response 201 of a create that was sent later */
async function waitForCreate(journal: Journal, sinceMs: number): Promise<number> {
  const created = await eventually(
    async () =>
      journal.entries.find(
        ({ atMs, method, path, status }) =>
          atMs >= sinceMs && method === 'POST' && path === '/payments' && status === 201,
      ),
    (entry) => entry !== undefined,
    READY_TIMEOUT_MS,
  );
  return created ? created.atMs + created.tookMs - sinceMs : Infinity;
}
