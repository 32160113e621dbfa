import { z } from 'zod';

/** A number with the file that measures, counts or states it. */
interface Figure {
  readonly value: number;
  readonly source: string;
}

const BUDGET = 'test/workflows/budget.test.ts';
const DISK = 'docs/performance.md, Cost of a payment: disk';
const PRODUCTION = 'docs/production.md';
const CONFIG = 'src/config.ts';
const SERVER_DEFAULTS = 'the defaults of the Temporal server 1.29.1';
const CLOUD_PRICES = 'https://docs.temporal.io/cloud/pricing (November 2026)';
const CLOUD_LIMITS = 'https://docs.temporal.io/cloud/limits (November 2026)';

/** What a paid and settled payment with four webhooks costs, besides CPU. */
export const PER_PAYMENT = {
  stateTransitions: { value: 10, source: `${BUDGET}, the budget; 9 are counted` },
  workflowTasks: { value: 3, source: BUDGET },
  apiRequests: { value: 2, source: `${BUDGET}: the create and the signal of the notification` },
  actions: { value: 11, source: `${BUDGET} counts what Temporal Cloud bills` },
  historyKb: { value: 7.2, source: 'docs/performance.md, Cost of a payment: history' },
  visibilityWrites: { value: 5, source: `${BUDGET}: the start, three upserts, the completion` },
  statements: { value: 8, source: BUDGET },
  otherStatements: { value: 7, source: 'the key and the policy before; four records and a claim of webhooks after' },
  commits: {
    value: 9,
    source: 'the statements that write: four transitions, a notification, four records of webhooks',
  },
  statementsOfReads: { value: 4, source: 'two reads by the merchant, each with the statement of the key' },
  reads: { value: 2, source: 'assumption' },
  webhooks: { value: 4, source: 'src/domain/payment-transitions.ts: created, pending, paid, settled' },
  keptKb: { value: 3.9, source: `${DISK}: payments, transitions, postings, entries` },
  deletedKb: { value: 6.4, source: `${DISK}: webhooks and notifications` },
  walKb: { value: 22.6, source: DISK },
  temporalKb: { value: 24.8, source: `${DISK}: SQLite, with visibility` },
} as const satisfies Record<string, Figure>;

/** Settings and limits, as they are without a change. */
export const DEFAULTS = {
  poolSize: { value: 20, source: `${CONFIG}: DATABASE_POOL_SIZE` },
  connectionsOfApi: { value: 6, source: `${PRODUCTION}, Connection pooler: of an API process besides its pool` },
  connectionsOfWorker: { value: 1, source: `${PRODUCTION}, Connection pooler: of a worker besides its pool` },
  relaySlots: { value: 256, source: `${CONFIG}: RELAY_SLOTS` },
  deletedAfterDays: { value: 90, source: `${CONFIG}: WEBHOOK_RETENTION_DAYS, NOTIFICATION_RETENTION_DAYS` },
  merchantPerMinute: { value: 600, source: `${CONFIG}: RATE_LIMIT_PER_MINUTE` },
  perEndpoint: { value: 8, source: 'src/webhooks/relay.ts: attempts in flight at an endpoint' },
  callsPerAccount: { value: 100, source: 'src/services/reconciliation/compare-payments.ts: CALLS_PER_SECOND' },
  postgresConnections: { value: 97, source: 'PostgreSQL: max_connections 100, 3 of them reserved' },
  pollsPerWorker: { value: 10, source: 'the TypeScript SDK: long polls for workflow tasks' },
  frontendPerHost: { value: 2_400, source: `${SERVER_DEFAULTS}: frontend.rps, frontend.namespaceRPS` },
  pollsPerHost: { value: 1_200, source: `${SERVER_DEFAULTS}: frontend.namespaceCount` },
  matchingPerHost: { value: 1_200, source: `${SERVER_DEFAULTS}: matching.rps` },
  historyPerHost: { value: 3_000, source: `${SERVER_DEFAULTS}: history.rps` },
  cloudActionsPerSecond: { value: 500, source: CLOUD_LIMITS },
  actionsPerUnit: { value: 500, source: 'https://docs.temporal.io/cloud/capacity-modes (November 2026)' },
  cloudUnits: { value: 12, source: 'https://docs.temporal.io/cloud/capacity-modes: without a request to support' },
} as const satisfies Record<string, Figure>;

/** What is planned with. Change these for other plans. */
export const ASSUMPTIONS = {
  usedPart: { value: 0.5, source: 'machines are planned for half of their CPU' },
  burst: { value: 2, source: "Temporal's limits are planned for twice the rate" },
  peakSecondsPerDay: { value: 28_800, source: 'a day is at the peak for a third of its length' },
  settlementDelayDays: { value: 1, source: 'open workflows and their histories' },
  temporalRetentionDays: { value: 3, source: '`lunas temporal setup`' },
  commitMs: { value: 5, source: 'a commit of PostgreSQL' },
  transitionsPerShard: { value: 50, source: 'a quarter of the 200 commits a second of one history shard' },
  coresPerWorker: { value: 2, source: `${PRODUCTION}, Roles and sizes of workers` },
  workersWithAllRoles: { value: 4, source: `${PRODUCTION}: more workers than these get roles` },
  receiverMs: { value: 100, source: 'the response time of a receiver of webhooks' },
  relaysWithoutParts: { value: 10, source: 'docs/scale.md, The relay: claims of more relays meet locked endpoints' },
  frontendHosts: { value: 4, source: 'hosts of a cluster of your own' },
  matchingHosts: { value: 4, source: 'hosts of a cluster of your own' },
  historyHosts: { value: 8, source: 'hosts of a cluster of your own' },
  largestPostgresCores: { value: 64, source: 'one primary' },
  transitionsOnPostgres: { value: 10_000, source: "Temporal's persistence on one PostgreSQL: about three rows each" },
  visibilityOnPostgres: { value: 5_000, source: "Temporal's visibility on one PostgreSQL" },
  callsForFinalPayments: { value: 0.2, source: 'the part of the calls that final payments take (docs/scale.md)' },
} as const satisfies Record<string, Figure>;

/** Temporal Cloud: pay as you go on the Business plan; beyond 200 million actions the last published price. */
export const CLOUD_PRICE = {
  actionTiers: [
    { upToMillion: 5, dollarsPerMillion: 50 },
    { upToMillion: 10, dollarsPerMillion: 45 },
    { upToMillion: 20, dollarsPerMillion: 40 },
    { upToMillion: 50, dollarsPerMillion: 35 },
    { upToMillion: 100, dollarsPerMillion: 30 },
    { upToMillion: Infinity, dollarsPerMillion: 25 },
  ],
  fairnessPart: 0.1,
  activeDollarsPerGbHour: 0.042,
  retainedDollarsPerGbHour: 0.00105,
  source: CLOUD_PRICES,
} as const;

const benchmarkSchema = z.object({
  perSecond: z.object({ median: z.number().positive() }),
  cpuMs: z.record(z.string(), z.number().nonnegative()),
});

const resultsSchema = z.object({
  startedAt: z.string(),
  commit: z.string(),
  machine: z.object({ cores: z.int().positive() }),
  rounds: z.object({
    benchmarks: z.object({
      create: benchmarkSchema,
      bulk: benchmarkSchema,
      get: benchmarkSchema,
      lifecycle: benchmarkSchema,
      deliver: benchmarkSchema,
    }),
  }),
});

export type MeasuredBenchmark = z.infer<typeof benchmarkSchema>;

/** The part of a result of `npm run bench` with which the model computes. */
export type MeasuredRun = z.infer<typeof resultsSchema>;

/** @throws an error in one line, if the text is not a result of `npm run bench` with its ratios */
export function parseMeasuredRun(text: string, file: string): MeasuredRun {
  const parsed = resultsSchema.safeParse(jsonOf(text));
  if (parsed.success) return parsed.data;
  throw new Error(`${file} is not a result of \`npm run bench\` that has the part \`ratios\`.`);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
