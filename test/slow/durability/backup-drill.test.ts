import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { ManagedProcess } from '../../../src/local-stack/managed-process';
import { freePort } from '../../../src/local-stack/ports';
import { ensureDatabase, withClient } from '../../../src/local-stack/postgres';
import { INVARIANT_NAMES } from '../../faults/invariants';
import { Journal } from '../../faults/journal';
import { readObservedState, withoutLostDeliveries, type ObservedState } from '../../faults/observed-state';
import { ORACLE } from '../../faults/oracle';
import { Random } from '../../faults/random';
import { startRecordingReceiver, type RecordingReceiver } from '../../faults/receiver';
import { Workload, type ScenarioKind } from '../../faults/workload';
import { commandsIn, DebianClusters, type ClusterName } from '../../support/debian-cluster';
import { eventually } from '../../support/eventually';
import { readSection } from '../../support/marked-section';
import { buildTemporalServer, createTemporalSchema, startPostgresTemporal } from '../../support/postgres-temporal';
import { bySize, describeInFullSize } from '../../support/size';
import { SeparateService } from '../separate-service';

/** docs/operations/backup.md by its own commands, with PostgreSQL and pgBackRest of Debian. */

const TIMEOUT_MS = bySize({ small: 600_000, full: 3_000_000 });
const PAGE = 'docs/operations/backup.md';
/** Longer than `archive_timeout`: some WAL of it is archived, and the newest is lost with the disk. */
const LOAD_MS = 65_000;
const BRIEF_LOAD_MS = 5_000;
const BETWEEN_ORDERS_MS = 1_000;
/** On two cores that others use too. */
const AGREEMENT_TIMEOUT_MS = 120_000;
const RUNS_OF_A_COMMAND = 20;
/** `npm run drill` also loses the disk with its newest WAL, and the database of Temporal. */
const CLUSTERS: readonly ClusterName[] = bySize({ small: ['lunas'], full: ['lunas', 'temporal'] });
/** The sandbox's bank completes its payouts when the drill asks for it. */
const ACCOUNT_NUMBER = '9900000020';
const NOTE = ['--note', 'drill'] as const;

/** Without money that comes after the end of a payment: the page has what a restore loses of it. */
const ORDERS: readonly ScenarioKind[] = [
  'settle',
  'refund',
  'cancel',
  'expire',
  'repeated',
  'paidWithoutNotification',
  'bulk',
];

/** P8 expects that members approve. In the drill an operator does. */
const INVARIANTS_HERE = INVARIANT_NAMES.filter((name) => name !== 'P8');

const endpointSchema = z.object({ endpoint: z.object({ secret: z.string() }) });
const recoverySchema = z.object({ recovery: z.object({ is_on: z.boolean() }) });
const proposedSchema = z.object({ account_id: z.string() });
const bankAccountSchema = z.object({
  bank_account: z.object({ status: z.string(), holder_name: z.string().nullable() }),
});
const payoutSchema = z.object({ payout: z.object({ reference_id: z.string(), status: z.string() }) });

let directory: string;
let clusters: DebianClusters;
let temporal: TemporalOnPostgres | null = null;
let service: SeparateService;
let receiver: RecordingReceiver;
let load: Load | undefined;
const journal = new Journal();
const report: string[] = [];

const log = (line: string): void => void process.stderr.write(`${new Date().toISOString()} ${line}\n`);

beforeAll(async () => {
  directory = await mkdtemp(path.join(os.tmpdir(), 'lunas-drill-'));
  // PostgreSQL runs as the OS user `postgres`, which needs access.
  await chmod(directory, 0o711);
  clusters = await DebianClusters.open(path.join(directory, 'postgres'), log);
  for (const name of CLUSTERS) {
    await clusters.create(name);
    await clusters.run('archive', name);
  }
  await ensureDatabase(clusters.databaseUrl('lunas', 'postgres'), 'lunas');
  if (CLUSTERS.includes('temporal'))
    temporal = await TemporalOnPostgres.open(clusters.databaseUrl('temporal', 'postgres'));
  service = await SeparateService.open({
    DATABASE_URL: clusters.databaseUrl('lunas', 'lunas'),
    ...(temporal && { TEMPORAL_ADDRESS: temporal.address }),
  });
  await service.startServices();
  if (temporal) await lunas('temporal', 'setup');
  await startService();
  receiver = await startRecordingReceiver(() => false);
  await prepareMerchant();
}, TIMEOUT_MS);

afterAll(async () => {
  await load?.abandon();
  await service?.stopAll();
  await temporal?.stop();
  await receiver?.close();
  await clusters?.close();
  await rm(directory, { recursive: true });
}, TIMEOUT_MS);

/** Temporal's server, which stores its data in a cluster of the drill. */
class TemporalOnPostgres {
  #server: ManagedProcess | undefined;

  private constructor(
    private readonly databaseUrl: string,
    private readonly port: number,
  ) {}

  static async open(databaseUrl: string): Promise<TemporalOnPostgres> {
    const { signal } = new AbortController();
    await buildTemporalServer(signal, log);
    await createTemporalSchema(databaseUrl, signal);
    const opened = new TemporalOnPostgres(databaseUrl, await freePort());
    await mkdir(path.join(directory, 'temporal'));
    await opened.start();
    return opened;
  }

  get address(): string {
    return `127.0.0.1:${this.port}`;
  }

  async start(): Promise<void> {
    const files = { directory: path.join(directory, 'temporal'), logFile: path.join(directory, 'temporal.log') };
    const { port, databaseUrl } = this;
    this.#server = await startPostgresTemporal({ ...files, port, databaseUrl }, new AbortController().signal);
  }

  async stop(): Promise<void> {
    await this.#server?.stop();
  }
}

async function startService(): Promise<void> {
  await Promise.all([service.start('worker'), service.start('api')]);
}

async function lunas(...args: readonly string[]): Promise<unknown> {
  const { exitCode, json, stderr } = await service.command(args, { DRILL_NUMBER: ACCOUNT_NUMBER });
  if (exitCode !== 0) throw new Error(`lunas ${args.join(' ')} ended with ${exitCode}: ${stderr}`);
  return json;
}

async function prepareMerchant(): Promise<void> {
  const { merchant_id: merchantId } = service.run;
  const created = await lunas('webhooks', 'create', '--merchant', merchantId, '--url', receiver.url);
  receiver.secret = endpointSchema.parse(created).endpoint.secret;
  const setPolicy = ['catalog', 'set', '--channel', 'qris', '--settlement-delay', '1s'];
  await lunas(...setPolicy, '--provider', 'gopay', '--expires-in', '15m');
  await lunas(...setPolicy, '--provider', 'shopeepay', '--expires-in', '10s');
  await lunas('payouts', 'set-limit', '--cooldown', '0s');
  await prepareBankAccount(merchantId);
}

async function prepareBankAccount(merchantId: string): Promise<void> {
  const account = ['--bank', '014', '--number-env', 'DRILL_NUMBER'];
  const proposed = await lunas('bank-accounts', 'add', '--merchant', merchantId, ...account);
  const { account_id: id } = proposedSchema.parse(proposed);
  const { bank_account: found } = await eventually(
    async () => bankAccountSchema.parse(await lunas('bank-accounts', 'show', id)),
    ({ bank_account: { status } }) => status === 'pending_approval',
  );
  await lunas('bank-accounts', 'approve', id, '--confirm-name', found.holder_name ?? '', ...NOTE);
  journal.payouts.accountNumbers.set(id, ACCOUNT_NUMBER);
}

/** Customers who order all the time, and merchants who repeat each request until it has a response. */
class Load {
  readonly workload: Workload;
  readonly #closing = new AbortController();
  readonly #ordering: Promise<void>;

  constructor(seed: number) {
    const { client, sandbox, db, run } = service;
    const target = { client, sandbox, db, receiver, masterKey: '', apiUrl: run.api_url, secretKey: run.secret_key };
    this.workload = new Workload(target, journal, new Random(seed), false);
    this.#ordering = this.#order();
  }

  /** Resolves when each customer has seen the end of the order, or has waited for three minutes. */
  async finish(): Promise<void> {
    this.#closing.abort();
    await this.#ordering;
    await this.workload.stop();
  }

  async abandon(): Promise<void> {
    this.#closing.abort();
    await this.#ordering;
    await this.workload.abandon();
  }

  async #order(): Promise<void> {
    for (let index = 0; !this.#closing.signal.aborted; index += 1) {
      const kind = ORDERS[index % ORDERS.length];
      if (kind) this.workload.startScenario(kind);
      await sleep(BETWEEN_ORDERS_MS);
    }
  }
}

/** @returns the reference of a payout that the bank has, and has not completed */
async function payOut({ workload }: Load): Promise<string> {
  const sale = workload.scenario(500_000);
  const payment = await sale.create();
  await sale.pay(payment);
  await sale.waitForFinal(payment);
  const created = await lunas('payouts', 'create', '--merchant', service.run.merchant_id);
  const { reference_id: reference } = payoutSchema.parse(created).payout;
  await lunas('payouts', 'approve', reference, ...NOTE);
  await waitForPayout(reference, 'submitted');
  return reference;
}

async function completeAtBank(reference: string): Promise<void> {
  const url = `${service.sandbox.url}/simulator/transfers/${reference}/complete`;
  expect(await fetch(url, { method: 'POST' })).toMatchObject({ status: 200 });
}

async function waitForPayout(reference: string, status: string): Promise<void> {
  await eventually(
    async () => payoutSchema.parse(await lunas('payouts', 'show', reference)).payout,
    (found) => found.status === status,
    AGREEMENT_TIMEOUT_MS,
  );
}

/** Commands of a section, each until it exits with 0. */
async function followPage(section: 'recover' | 'recover-temporal', since: Date): Promise<void> {
  const text = commandsIn(readSection({ page: PAGE, kind: 'sh', name: section }));
  for (const line of text.replaceAll(/(?<=--since )\S+/g, since.toISOString()).split('\n')) {
    log(`$ ${line}`);
    const args = [...line.matchAll(/"(?<quoted>[^"]*)"|(?<word>\S+)/g)].map(
      ({ groups }) => groups?.['quoted'] ?? groups?.['word'] ?? '',
    );
    await runUntilSuccess(args.slice(1));
  }
}

async function runUntilSuccess(args: readonly string[]): Promise<void> {
  for (let runs = 1; ; runs += 1) {
    const { exitCode, json, stderr } = await service.command(args);
    if (exitCode === 0) return;
    log(`  ${JSON.stringify(json)}`);
    log(`  exit code ${exitCode}: ${stderr.trim().split('\n').at(-1)}`);
    if (runs === RUNS_OF_A_COMMAND) throw new Error(stderr);
    await sleep(1_000);
  }
}

const readStateNow = (): Promise<ObservedState> =>
  readObservedState({ sandbox: service.sandbox, receiver, db: service.db, client: service.client }, journal);

/** A recovery terminates a workflow that it starts again. */
function withoutReplacedRuns(state: ObservedState): ObservedState {
  const newest = new Map(state.workflows.map(({ id }) => [id, 0]));
  for (const { id, startedAtMs } of state.workflows) newest.set(id, Math.max(newest.get(id) ?? 0, startedAtMs));
  return { ...state, workflows: state.workflows.filter(({ id, startedAtMs }) => newest.get(id) === startedAtMs) };
}

async function violations(): Promise<string[]> {
  const state = withoutReplacedRuns(withoutLostDeliveries(await readStateNow()));
  return INVARIANTS_HERE.flatMap((name) => ORACLE[name](state).violations.map((violation) => `${name}: ${violation}`));
}

/** Provider, bank, PostgreSQL and Temporal agree, the books are at zero, nothing was refunded or paid out twice. */
async function expectConsistent(load: Load, payouts: readonly string[]): Promise<void> {
  await load.finish();
  for (const reference of payouts) await waitForPayout(reference, 'completed');
  // A customer of a slow machine may have paid after the expiry, without a notification.
  for (const command of ['recover', 'reconcile', 'ledger verify --all']) await runUntilSuccess(command.split(' '));
  const isDelivered = ({ records }: ObservedState) => records.deliveries.every(({ status }) => status === 'delivered');
  await eventually(readStateNow, isDelivered, AGREEMENT_TIMEOUT_MS);
  await eventually(violations, (found) => found.length === 0, AGREEMENT_TIMEOUT_MS);
}

/** When the responses 201 of creations arrived. */
const createdAtMs = (): number[] =>
  journal.entries.flatMap(({ atMs, tookMs, method, path, status }) =>
    method === 'POST' && path === '/payments' && status === 201 ? [atMs + tookMs] : [],
  );

interface Loss {
  readonly what: string;
  readonly cluster: ClusterName;
  readonly lostAt: Date;
  /** The state that came back is of this time. */
  readonly restoredTo: Date;
  /** When the server accepted writes again. */
  readonly startedAt: Date;
}

/** Prints RPO and RTO, after the first create that succeeds. */
async function reportLoss({ what, cluster, lostAt, restoredTo, startedAt }: Loss): Promise<void> {
  const firstAtMs = await eventually(
    async () => createdAtMs().find((atMs) => atMs > startedAt.getTime()),
    (atMs) => atMs !== undefined,
  );
  const lost = createdAtMs().filter((atMs) => atMs > restoredTo.getTime() && atMs < lostAt.getTime());
  const seconds = (from: Date, toMs = 0) => ((toMs - from.getTime()) / 1_000).toFixed(1);
  const { size } = await clusters.size(cluster);
  report.push(
    `${what} (${size}): RPO ${seconds(restoredTo, lostAt.getTime())} s with ${lost.length} acknowledged creations, ` +
      `restored after ${seconds(lostAt, startedAt.getTime())} s, RTO ${seconds(lostAt, firstAtMs)} s`,
  );
  log(report.at(-1) ?? '');
}

/** Archives what was written until now, as a WAL file that is full does. */
async function archiveNow(cluster: ClusterName): Promise<void> {
  await withClient(clusters.databaseUrl(cluster, 'postgres'), async (client) => {
    const { rows } = await client.query<{ name: string }>('select pg_walfile_name(pg_switch_wal()) as name');
    await eventually(
      async () => (await client.query<{ last: string }>('select last_archived_wal as last from pg_stat_archiver')).rows,
      ([found]) => (found?.last ?? '') >= (rows[0]?.name ?? ''),
    );
  });
}

/** Loses the disk of Lunas' database, and follows the page until the API runs again. */
async function loseDatabase(what: string, restore: () => Promise<unknown>): Promise<void> {
  const lostAt = new Date();
  log(`The disk of PostgreSQL is lost: ${what}`);
  await clusters.lose('lunas');
  await service.stop('api', 'worker');
  await restore();
  const restoredTo = await clusters.startRestored('lunas');
  const startedAt = new Date();
  await service.start('worker');
  await eventually(
    async () => recoverySchema.parse(await lunas('recovery', 'status')).recovery,
    ({ is_on: isOn }) => isOn,
  );
  await followPage('recover', new Date(restoredTo.getTime() - 5 * 60_000));
  await service.start('api');
  await reportLoss({ what, cluster: 'lunas', lostAt, restoredTo, startedAt });
  await clusters.run('backup', 'lunas');
}

/** Loses the disk of Temporal's database, and follows the page until the API runs again. */
async function loseTemporal(server: TemporalOnPostgres): Promise<void> {
  const what = "Temporal's PostgreSQL to the end of its archive";
  const lostAt = new Date();
  log(`The disk of PostgreSQL is lost: ${what}`);
  await clusters.lose('temporal');
  await service.stop('api', 'worker');
  await server.stop();
  await clusters.run('restore-all', 'temporal');
  const restoredTo = await clusters.startRestored('temporal');
  const startedAt = new Date();
  await server.start();
  await service.start('worker');
  await followPage('recover-temporal', restoredTo);
  await service.start('api');
  await reportLoss({ what, cluster: 'temporal', lostAt, restoredTo, startedAt });
  await clusters.run('backup', 'temporal');
}

it(
  'PostgreSQL without its disk is restored to a second, and nothing that was acknowledged later is lost',
  async () => {
    for (const name of CLUSTERS) log(await clusters.run('backup', name));
    load = new Load(1);
    const pending = load.workload.scenario(70_000);
    const paidLater = load.workload.scenario(80_000);
    const [, toPay] = [await pending.create(), await paidLater.create()];
    const inFlight = await payOut(load);
    await sleep(BRIEF_LOAD_MS);
    const second = new Date(Math.floor(Date.now() / 1_000) * 1_000);
    await paidLater.pay(toPay);
    await completeAtBank(inFlight);
    const requestedLater = await payOut(load);
    await sleep(BRIEF_LOAD_MS);
    await archiveNow('lunas');

    await loseDatabase('PostgreSQL to a second', () =>
      clusters.run('restore-second', 'lunas', { '2026-11-23 09:17:00': timestampOf(second) }),
    );

    await pending.pay(await pending.create());
    await completeAtBank(requestedLater);
    await expectConsistent(load, [inFlight, requestedLater]);
  },
  TIMEOUT_MS,
);

describeInFullSize('With a minute of load, the newest WAL is lost with the disk', () => {
  it(
    'PostgreSQL is restored to the end of its archive, and what came later is found again',
    async () => {
      load = new Load(2);
      await sleep(LOAD_MS);
      const requested = await payOut(load);

      await loseDatabase('PostgreSQL to the end of its archive', () => clusters.run('restore-all', 'lunas'));

      await completeAtBank(requested);
      await expectConsistent(load, [requested]);
    },
    TIMEOUT_MS,
  );

  it(
    "Temporal's PostgreSQL is restored to the end of its archive, and each workflow goes on",
    async () => {
      if (!temporal) throw new Error("There is no Temporal on the drill's PostgreSQL");
      load = new Load(3);
      await sleep(LOAD_MS);
      const requested = await payOut(load);

      await loseTemporal(temporal);

      await completeAtBank(requested);
      await expectConsistent(load, [requested]);
      log(report.join('\n'));
    },
    TIMEOUT_MS,
  );
});

const timestampOf = (date: Date): string => date.toISOString().slice(0, 'YYYY-MM-DDTHH:MM:SS'.length).replace('T', ' ');
