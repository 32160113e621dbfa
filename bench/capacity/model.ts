import { ASSUMPTIONS, CLOUD_PRICE, DEFAULTS, PER_PAYMENT, type MeasuredBenchmark, type MeasuredRun } from './costs';

const KB_PER_GB = 1_000_000;
const MS_PER_SECOND = 1_000;
const DAYS_PER_YEAR = 365;
const DAYS_PER_MONTH = 30;
const HOURS_PER_DAY = 24;
const MIN_PROCESSES = 2;

type Benchmarks = MeasuredRun['rounds']['benchmarks'];
type Role = 'api' | 'payments' | 'relay' | 'temporal' | 'postgres';

/** What a cluster needs at the peak. */
export interface CapacityPlan {
  readonly paymentsPerSecond: number;
  readonly cpuMs: Readonly<Record<Role, number>>;
  readonly cores: Readonly<Record<Role, number>>;
  readonly processes: Processes;
  readonly connections: { readonly withoutPooler: number; readonly withPooler: number };
  readonly statementsPerSecond: number;
  readonly webhooksPerSecond: number;
  readonly temporal: {
    readonly transitionsPerSecond: number;
    readonly requestsPerSecond: number;
    readonly historyShards: number;
    readonly storedGb: number;
  };
  readonly settings: readonly ServerSetting[];
  readonly cloud: CloudPlan;
  readonly storage: StoragePlan;
  readonly bottlenecks: readonly Bottleneck[];
  readonly firstBottleneck: Bottleneck | null;
}

interface Processes {
  readonly api: number;
  readonly payments: number;
  readonly webhooks: number;
  readonly relay: number;
  readonly sweeper: number;
}

interface ServerSetting {
  readonly setting: string;
  readonly default: number;
  readonly hosts: number;
  readonly neededPerHost: number;
  /** The default if it is enough, else the needed value in whole hundreds. */
  readonly value: number;
}

interface CloudPlan {
  readonly actionsPerSecond: number;
  /** Temporal Resource Units of provisioned capacity. */
  readonly units: number;
  readonly billedActionsPerPayment: number;
  readonly dollarsPerPayment: number;
  readonly dollarsPerMonth: number;
}

interface StoragePlan {
  readonly paymentsPerDay: number;
  readonly gbPerDay: number;
  readonly gbPerYear: number;
  /** After a year, with what the retention deletes. */
  readonly gbAfterYear: number;
  readonly walGbPerDay: number;
}

interface Bottleneck {
  readonly name: string;
  readonly scope: 'all payments' | 'one merchant' | 'Temporal Cloud';
  /** The rate that reaches it. */
  readonly paymentsPerSecond: number;
  readonly remedy: string;
}

/** The rates of one machine that runs everything, the benchmark and the sandbox too, at its full CPU. */
export interface MachineCapacity {
  readonly cores: number;
  readonly createsPerSecond: number;
  readonly lifecyclesPerSecond: number;
}

/** The rate at which the CPU of all processes together is used up. */
export function capacityOf(cores: number, { create, lifecycle }: Benchmarks): MachineCapacity {
  return {
    cores,
    createsPerSecond: saturatedRate(cores, create),
    lifecyclesPerSecond: saturatedRate(cores, lifecycle),
  };
}

function saturatedRate(cores: number, { cpuMs }: MeasuredBenchmark): number {
  const perOperation = Object.values(cpuMs).reduce((sum, ms) => sum + ms, 0);
  return (cores * MS_PER_SECOND) / perOperation;
}

/** From the costs of one payment to the sizes of a cluster. */
export function planCapacity(paymentsPerSecond: number, benchmarks: Benchmarks): CapacityPlan {
  const cpuMs = cpuPerPayment(benchmarks);
  const bottlenecks = findBottlenecks(cpuMs);
  const transitionsPerSecond = paymentsPerSecond * PER_PAYMENT.stateTransitions.value;
  const processes = processesFor(paymentsPerSecond, cpuMs);
  const storage = storageFor(paymentsPerSecond);
  const storedDays = ASSUMPTIONS.temporalRetentionDays.value + ASSUMPTIONS.settlementDelayDays.value;
  return {
    paymentsPerSecond,
    cpuMs,
    cores: {
      api: coresFor(paymentsPerSecond, cpuMs.api),
      payments: coresFor(paymentsPerSecond, cpuMs.payments),
      relay: coresFor(paymentsPerSecond, cpuMs.relay),
      temporal: coresFor(paymentsPerSecond, cpuMs.temporal),
      postgres: coresFor(paymentsPerSecond, cpuMs.postgres),
    },
    processes,
    connections: {
      withoutPooler: connectionsOf(processes),
      withPooler: connectionsInUse(paymentsPerSecond, cpuMs.postgres),
    },
    statementsPerSecond: paymentsPerSecond * statementsPerPayment(),
    webhooksPerSecond: paymentsPerSecond * PER_PAYMENT.webhooks.value,
    temporal: {
      transitionsPerSecond,
      requestsPerSecond: paymentsPerSecond * temporalRequests().frontend,
      historyShards: powerOfTwo(transitionsPerSecond / ASSUMPTIONS.transitionsPerShard.value),
      storedGb: (storage.paymentsPerDay * storedDays * PER_PAYMENT.temporalKb.value) / KB_PER_GB,
    },
    settings: settingsFor(paymentsPerSecond, processes),
    cloud: cloudFor(paymentsPerSecond, storage.paymentsPerDay),
    storage,
    bottlenecks,
    firstBottleneck: bottlenecks.find(({ scope }) => scope === 'all payments') ?? null,
  };
}

/** The relay's part is that of its own benchmark. The worker of a lifecycle is all roles in one process. */
function cpuPerPayment({ lifecycle, get, deliver }: Benchmarks): Record<Role, number> {
  const of = ({ cpuMs }: MeasuredBenchmark, process: string): number => cpuMs[process] ?? 0;
  const relay = PER_PAYMENT.webhooks.value * of(deliver, 'worker');
  const reads = PER_PAYMENT.reads.value;
  return {
    api: of(lifecycle, 'api') + reads * of(get, 'api'),
    payments: of(lifecycle, 'worker') - relay,
    relay,
    temporal: of(lifecycle, 'temporal'),
    postgres: of(lifecycle, 'postgres') + reads * of(get, 'postgres'),
  };
}

function coresFor(paymentsPerSecond: number, cpuMs: number): number {
  return (paymentsPerSecond * cpuMs) / MS_PER_SECOND / ASSUMPTIONS.usedPart.value;
}

function processesFor(paymentsPerSecond: number, cpuMs: Readonly<Record<Role, number>>): Processes {
  const { coresPerWorker, workersWithAllRoles, receiverMs } = ASSUMPTIONS;
  const atLeastTwo = (count: number): number => Math.max(MIN_PROCESSES, Math.ceil(count));
  const api = atLeastTwo(coresFor(paymentsPerSecond, cpuMs.api));
  const allRoles = coresFor(paymentsPerSecond, cpuMs.payments + cpuMs.relay) / coresPerWorker.value;
  if (allRoles <= workersWithAllRoles.value) {
    return { api, payments: atLeastTwo(allRoles), webhooks: 0, relay: 0, sweeper: 0 };
  }
  const inFlight = (paymentsPerSecond * PER_PAYMENT.webhooks.value * receiverMs.value) / MS_PER_SECOND;
  return {
    api,
    payments: atLeastTwo(coresFor(paymentsPerSecond, cpuMs.payments) / coresPerWorker.value),
    webhooks: MIN_PROCESSES,
    relay: atLeastTwo(Math.max(coresFor(paymentsPerSecond, cpuMs.relay), inFlight / DEFAULTS.relaySlots.value)),
    sweeper: MIN_PROCESSES,
  };
}

function connectionsOf({ api, payments, webhooks, relay, sweeper }: Processes): number {
  const { poolSize, connectionsOfApi, connectionsOfWorker } = DEFAULTS;
  const workers = payments + webhooks + relay + sweeper;
  return api * (poolSize.value + connectionsOfApi.value) + workers * (poolSize.value + connectionsOfWorker.value);
}

/** Those that execute a statement or wait for a commit, and as many in reserve. */
function connectionsInUse(paymentsPerSecond: number, postgresMs: number): number {
  const busyMs = postgresMs + PER_PAYMENT.commits.value * ASSUMPTIONS.commitMs.value;
  return Math.ceil(coresFor(paymentsPerSecond, busyMs));
}

function statementsPerPayment(): number {
  return PER_PAYMENT.statements.value + PER_PAYMENT.otherStatements.value + PER_PAYMENT.statementsOfReads.value;
}

function storageFor(paymentsPerSecond: number): StoragePlan {
  const paymentsPerDay = paymentsPerSecond * ASSUMPTIONS.peakSecondsPerDay.value;
  const { keptKb, deletedKb, walKb } = PER_PAYMENT;
  const gbPerDay = (paymentsPerDay * (keptKb.value + deletedKb.value)) / KB_PER_GB;
  const keptGb = (paymentsPerDay * keptKb.value * DAYS_PER_YEAR) / KB_PER_GB;
  const deletedGb = (paymentsPerDay * deletedKb.value * DEFAULTS.deletedAfterDays.value) / KB_PER_GB;
  return {
    paymentsPerDay,
    gbPerDay,
    gbPerYear: gbPerDay * DAYS_PER_YEAR,
    gbAfterYear: keptGb + deletedGb,
    walGbPerDay: (paymentsPerDay * walKb.value) / KB_PER_GB,
  };
}

function powerOfTwo(count: number): number {
  return 2 ** Math.max(0, Math.ceil(Math.log2(count)));
}

/** Requests of one payment at the services of Temporal. */
function temporalRequests(): { frontend: number; matching: number; history: number } {
  const tasks = PER_PAYMENT.workflowTasks.value;
  const frontend = PER_PAYMENT.apiRequests.value + 2 * tasks;
  return { frontend, matching: 2 * tasks, history: frontend + tasks };
}

function settingsFor(paymentsPerSecond: number, { payments }: Processes): ServerSetting[] {
  const { burst, frontendHosts, matchingHosts, historyHosts } = ASSUMPTIONS;
  const requests = temporalRequests();
  const atPeak = (perPayment: number): number => paymentsPerSecond * perPayment * burst.value;
  const rows = [
    ['frontend.rps, frontend.namespaceRPS', DEFAULTS.frontendPerHost, frontendHosts, atPeak(requests.frontend)],
    ['matching.rps', DEFAULTS.matchingPerHost, matchingHosts, atPeak(requests.matching)],
    ['history.rps', DEFAULTS.historyPerHost, historyHosts, atPeak(requests.history)],
    ['frontend.namespaceCount', DEFAULTS.pollsPerHost, frontendHosts, payments * DEFAULTS.pollsPerWorker.value],
  ] as const;
  return rows.map(([setting, { value: standard }, { value: hosts }, needed]) => {
    const neededPerHost = Math.ceil(needed / hosts);
    const value = neededPerHost <= standard ? standard : Math.ceil(neededPerHost / 100) * 100;
    return { setting, default: standard, hosts, neededPerHost, value };
  });
}

function cloudFor(paymentsPerSecond: number, paymentsPerDay: number): CloudPlan {
  const actionsPerSecond = paymentsPerSecond * PER_PAYMENT.actions.value;
  const billedActionsPerPayment = PER_PAYMENT.actions.value * (1 + CLOUD_PRICE.fairnessPart);
  const paymentsPerMonth = paymentsPerDay * DAYS_PER_MONTH;
  const dollarsPerMonth =
    priceOfActions(paymentsPerMonth * billedActionsPerPayment) + paymentsPerMonth * priceOfHistory();
  return {
    actionsPerSecond,
    units: Math.ceil(actionsPerSecond / DEFAULTS.actionsPerUnit.value),
    billedActionsPerPayment,
    dollarsPerPayment: dollarsPerMonth / paymentsPerMonth,
    dollarsPerMonth,
  };
}

/** Each part of the month's actions has the price of its tier. */
function priceOfActions(actions: number): number {
  const millions = actions / 1_000_000;
  let [dollars, from] = [0, 0];
  for (const { upToMillion, dollarsPerMillion } of CLOUD_PRICE.actionTiers) {
    dollars += Math.max(0, Math.min(millions, upToMillion) - from) * dollarsPerMillion;
    from = upToMillion;
  }
  return dollars;
}

/** The history of one payment: active until it is settled, then retained. */
function priceOfHistory(): number {
  const { settlementDelayDays, temporalRetentionDays } = ASSUMPTIONS;
  const { activeDollarsPerGbHour, retainedDollarsPerGbHour } = CLOUD_PRICE;
  const perHour =
    settlementDelayDays.value * activeDollarsPerGbHour + temporalRetentionDays.value * retainedDollarsPerGbHour;
  return (PER_PAYMENT.historyKb.value / KB_PER_GB) * HOURS_PER_DAY * perHour;
}

interface Limit extends Omit<Bottleneck, 'paymentsPerSecond'> {
  readonly limit: number;
  /** Grows with the rate. */
  readonly needed: (paymentsPerSecond: number) => number;
}

/** In the order in which a growing rate reaches them. */
function findBottlenecks(cpuMs: Readonly<Record<Role, number>>): Bottleneck[] {
  return limitsOf(cpuMs)
    .map(({ name, scope, remedy, limit, needed }) => {
      const reached = largestRate((rate) => needed(rate) <= limit);
      return { name, scope, paymentsPerSecond: Number(reached.toPrecision(2)), remedy };
    })
    .toSorted((a, b) => a.paymentsPerSecond - b.paymentsPerSecond);
}

function limitsOf(cpuMs: Readonly<Record<Role, number>>): Limit[] {
  return [...settingLimits(cpuMs), ...structuralLimits(cpuMs), ...limitsOfOneMerchant()];
}

/** A setting, an account or a process more removes these. */
function settingLimits(cpuMs: Readonly<Record<Role, number>>): Limit[] {
  const { burst, peakSecondsPerDay, callsForFinalPayments } = ASSUMPTIONS;
  const secondsPerDay = HOURS_PER_DAY * 3_600;
  const requests = temporalRequests();
  const ofOneHost = (service: keyof typeof requests, { value: limit }: { readonly value: number }): Limit => ({
    name: `${service}.rps of one host of Temporal`,
    scope: 'all payments',
    remedy: 'more hosts, or a higher value',
    limit,
    needed: (rate) => rate * requests[service] * burst.value,
  });
  return [
    {
      name: "PostgreSQL's 100 connections, without a pooler",
      scope: 'all payments',
      remedy: 'a PgBouncer, a smaller pool, or a larger max_connections',
      limit: DEFAULTS.postgresConnections.value,
      needed: (rate) => connectionsOf(processesFor(rate, cpuMs)),
    },
    ofOneHost('frontend', DEFAULTS.frontendPerHost),
    ofOneHost('matching', DEFAULTS.matchingPerHost),
    ofOneHost('history', DEFAULTS.historyPerHost),
    {
      name: "reconciliation of one account's open payments in 24 hours",
      scope: 'all payments',
      remedy: 'more provider accounts, or settlement files',
      limit: DEFAULTS.callsPerAccount.value * secondsPerDay * (1 - callsForFinalPayments.value),
      needed: (rate) => rate * peakSecondsPerDay.value,
    },
    {
      name: 'the actions a second of a new namespace of Temporal Cloud',
      scope: 'Temporal Cloud',
      remedy: 'provisioned capacity, or a rate that grows over days',
      limit: DEFAULTS.cloudActionsPerSecond.value,
      needed: (rate) => rate * PER_PAYMENT.actions.value,
    },
    {
      name: 'the capacity that Temporal Cloud provisions without a request',
      scope: 'Temporal Cloud',
      remedy: 'a request to its support',
      limit: DEFAULTS.cloudUnits.value * DEFAULTS.actionsPerUnit.value,
      needed: (rate) => rate * PER_PAYMENT.actions.value,
    },
  ];
}

/** Another structure removes these. */
function structuralLimits(cpuMs: Readonly<Record<Role, number>>): Limit[] {
  const { largestPostgresCores, transitionsOnPostgres, visibilityOnPostgres, relaysWithoutParts } = ASSUMPTIONS;
  return [
    {
      name: "Temporal's persistence on one PostgreSQL",
      scope: 'all payments',
      remedy: 'Cassandra, or Temporal Cloud',
      limit: transitionsOnPostgres.value,
      needed: (rate) => rate * PER_PAYMENT.stateTransitions.value,
    },
    {
      name: "Temporal's visibility on one PostgreSQL",
      scope: 'all payments',
      remedy: 'Elasticsearch or OpenSearch',
      limit: visibilityOnPostgres.value,
      needed: (rate) => rate * PER_PAYMENT.visibilityWrites.value,
    },
    {
      name: 'the CPU of one PostgreSQL primary of Lunas',
      scope: 'all payments',
      remedy: 'shards by merchant',
      limit: largestPostgresCores.value,
      needed: (rate) => coresFor(rate, cpuMs.postgres),
    },
    {
      name: 'relays that share one outbox',
      scope: 'all payments',
      remedy: 'endpoints divided among relays (not built)',
      limit: relaysWithoutParts.value,
      needed: (rate) => processesFor(rate, cpuMs).relay,
    },
  ];
}

function limitsOfOneMerchant(): Limit[] {
  return [
    {
      name: 'the rate limit of one merchant',
      scope: 'one merchant',
      remedy: 'a higher MERCHANT_RATE_LIMIT_PER_MINUTE',
      limit: DEFAULTS.merchantPerMinute.value,
      needed: (rate) => rate * 60,
    },
    {
      name: 'the attempts in flight at one endpoint of one merchant',
      scope: 'one merchant',
      remedy: 'a faster receiver',
      limit: DEFAULTS.perEndpoint.value,
      needed: (rate) => (rate * PER_PAYMENT.webhooks.value * ASSUMPTIONS.receiverMs.value) / MS_PER_SECOND,
    },
  ];
}

const LARGEST_RATE = 1_000_000;

/** @param isWithin true up to some rate, and false from there on */
function largestRate(isWithin: (paymentsPerSecond: number) => boolean): number {
  let [within, beyond] = [0, LARGEST_RATE];
  for (let step = 0; step < 40; step += 1) {
    const middle = (within + beyond) / 2;
    if (isWithin(middle)) within = middle;
    else beyond = middle;
  }
  return within;
}
