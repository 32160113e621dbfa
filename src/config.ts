import { readFileSync } from 'node:fs';
import { isIPv4 } from 'node:net';
import path from 'node:path';
import { z } from 'zod';
import { CELL } from './domain/cell';
import { WORKER_ROLES } from './domain/process-roles';
import { codeOf, messageOf, UserError } from './errors';
import { POOL_MODES, throughPooler } from './lib/pooler';
import { PACKAGE_ROOT } from './package-info';

/** Digits and nothing else: no sign, fraction, exponent or space. */
function wholeNumber(min: number, max: number) {
  return z
    .string()
    .refine((text) => /^\d+$/.test(text) && Number(text) >= min && Number(text) <= max, {
      error: `must be a whole number from ${min} to ${max}`,
    })
    .transform(Number);
}

export const text = z.string().min(1);
export const port = wholeNumber(1, 65_535);
/** The shortest is above the three days in which a webhook is retried. */
const retentionDays = wholeNumber(7, 36_500);
export const url = z.url({ protocol: /^https?$/ }).transform((value) => value.replace(/\/+$/, ''));
const masterKey = z.base64().refine((value) => Buffer.from(value, 'base64').length === 32, {
  error: 'must be 32 bytes in base64, as `openssl rand -base64 32` prints',
});
const list = z.string().transform((value) =>
  value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== ''),
);

/** A file may have one key a line. */
const masterKeys = z
  .string()
  .transform((value) => value.split(/[,\s]+/).filter((item) => item !== ''))
  .pipe(z.array(masterKey));

const network = z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()]);

/**
 * A trusted proxy names the caller's address: in a network that contains callers, they could choose their own. Networks
 * that contain the IPv4-mapped addresses (`::ffff:0:0/96`) contain every IPv4 caller. The widest private networks are
 * 10.0.0.0/8 and fc00::/7.
 */
function isTrustable(proxy: string): boolean {
  const [base = '', prefix] = proxy.split('/');
  if (!network.safeParse(proxy).success || prefix === undefined) return network.safeParse(proxy).success;
  if (isIPv4(base)) return Number(prefix) >= 8;
  const isPrivate = /^f[cd][\da-f]{2}:/i.test(base);
  return !/^[0:]/.test(base) && Number(prefix) >= (isPrivate ? 7 : 16);
}

const networks = list.refine((cidrs) => cidrs.length > 0 && cidrs.every((cidr) => network.safeParse(cidr).success), {
  error: 'must be addresses and networks, separated by commas (10.0.0.0/8,fd00::/8)',
});

const trustedProxies = z.union([
  wholeNumber(0, 10),
  list.refine((proxies) => proxies.length > 0 && proxies.every(isTrustable), {
    error:
      'must be the number of proxies in front of the API (1), or their addresses and networks ' +
      '(10.0.0.0/8,2001:db8::7), no network wider than /8 (IPv6: /16)',
  }),
]);

const ENVIRONMENTS = ['sandbox', 'production'] as const;

/** A database belongs to one of them, and so does every process that uses it. */
export type Environment = (typeof ENVIRONMENTS)[number];

const workerRoles = list.pipe(
  z
    .array(z.enum(WORKER_ROLES, { error: `must be some of ${WORKER_ROLES.join(',')}, separated by commas` }))
    .min(1, { error: `must be some of ${WORKER_ROLES.join(',')}, separated by commas` }),
);

const postgresUrl = z.url({ protocol: /^postgres(ql)?$/ });

/**
 * Every environment variable of an installation, its default and its meaning. The CLI finds an absent address in
 * `LUNAS_HOME`. The local stack has more (`src/local-stack/local-stack-config.ts`).
 */
export const environmentSchema = z.object({
  PORT: port.default(3000).describe('Port of the API.'),
  HOST: text.default('127.0.0.1').describe('Address on which the API listens; 0.0.0.0 for all interfaces.'),
  OPERATOR_PORT: port.optional().describe('Port of the operator API, a listener of its own. Default: PORT + 2.'),
  OPERATOR_HOST: text
    .default('127.0.0.1')
    .describe('Address on which the operator API listens. Keep it out of reach of the internet.'),
  DASHBOARD_PORT: port.optional().describe('Port of the merchant dashboard. Default: PORT + 4.'),
  DASHBOARD_HOST: text.default('127.0.0.1').describe('Address on which the merchant dashboard listens.'),
  DASHBOARD_URL: url
    .optional()
    .describe('URL at which browsers reach the merchant dashboard. Default: http://localhost and its port.'),
  PUBLIC_BASE_URL: url
    .optional()
    .describe("URL for QR images and providers' notifications. Default: the API's own address."),
  DATABASE_URL: postgresUrl
    .optional()
    .describe('postgresql://user:password@host:5432/lunas. Default: the database of the local stack.'),
  DATABASE_URL_FILE: text.optional().describe('File with DATABASE_URL, instead of the variable.'),
  DATABASE_TLS_CA: text
    .optional()
    .describe('File with the certificate authority of PostgreSQL; it is sslrootcert of DATABASE_URL.'),
  DATABASE_POOLER: z
    .enum(POOL_MODES, { error: 'must be session or transaction' })
    .optional()
    .describe('pool_mode of the PgBouncer at DATABASE_URL: session or transaction. Default: there is none.'),
  DATABASE_DIRECT_URL: postgresUrl
    .optional()
    .describe('URL of PostgreSQL itself for `lunas migrate`, if DATABASE_URL is that of a PgBouncer.'),
  DATABASE_DIRECT_URL_FILE: text.optional().describe('File with DATABASE_DIRECT_URL, instead of the variable.'),
  TEMPORAL_ADDRESS: z
    .string()
    .regex(/^[^\s:/]+:\d+$/, { error: 'must be host:port' })
    .optional()
    .describe('host:port. Default: the Temporal server of the local stack.'),
  TEMPORAL_NAMESPACE: text.default('default').describe('Namespace of the workflows.'),
  TEMPORAL_API_KEY: text.optional().describe('API key of Temporal Cloud; enables TLS.'),
  TEMPORAL_API_KEY_FILE: text.optional().describe('File with TEMPORAL_API_KEY, instead of the variable.'),
  TEMPORAL_TLS_CA: text.optional().describe('File with the certificate authority of the Temporal server.'),
  TEMPORAL_TLS_CERT: text.optional().describe('File with the client certificate for Temporal.'),
  TEMPORAL_TLS_KEY: text.optional().describe('File with the key of the client certificate.'),
  TEMPORAL_TLS_SERVER_NAME: text.optional().describe('Name that the certificate of the Temporal server must have.'),
  TEMPORAL_DEPLOYMENT_NAME: text.default('lunas').describe('Name of the workers of this installation.'),
  TEMPORAL_WORKER_BUILD_ID: text
    .optional()
    .describe('Version of a worker, for Worker Versioning: payments end on the version on which they started.'),
  TEMPORAL_UI_URL: url
    .optional()
    .describe('URL of the Temporal Web UI whose pages may use the codec server. Default: that of the local stack.'),
  CODEC_PORT: port.optional().describe('Port of the codec server, on loopback. Default: PORT + 3.'),
  LUNAS_HOME: text
    .default('.lunas')
    .transform((directory) => path.resolve(PACKAGE_ROOT, directory))
    .describe("Directory of the local stack's data, relative to the checkout."),
  LUNAS_ENVIRONMENT: z
    .enum(ENVIRONMENTS)
    .optional()
    .describe('sandbox or production. Default: that of the local stack, else that which the database records.'),
  LUNAS_CELL: z
    .string()
    .regex(CELL, { error: 'must be two digits or capital letters, without I, L, O and U' })
    .optional()
    .describe('Name of this installation behind a router of several (docs/scale.md). The first migration records it.'),
  LUNAS_MASTER_KEY: masterKey
    .optional()
    .describe('32 bytes in base64 (`openssl rand -base64 32`); encrypts secrets. Default: that of the local stack.'),
  LUNAS_MASTER_KEY_FILE: text.optional().describe('File with LUNAS_MASTER_KEY, instead of the variable.'),
  LUNAS_OLD_MASTER_KEYS: masterKeys
    .optional()
    .describe('Master keys that only decrypt, separated by commas, until `lunas keys reseal` is done.'),
  LUNAS_OLD_MASTER_KEYS_FILE: text.optional().describe('File with LUNAS_OLD_MASTER_KEYS, instead of the variable.'),
  LUNAS_KEY: text.optional().describe('Secret key of a merchant, for `lunas listen`.'),
  LUNAS_OPERATOR_KEY: text
    .optional()
    .describe('Key of the operator who runs a command; the audit log has its name. Required in production to write.'),
  LUNAS_RECOVERY_MODE: z
    .enum(['true', 'false'], { error: 'must be true or false' })
    .default('false')
    .describe('true: the worker begins recovery mode. No worker settles or refunds, until `lunas recovery end`.'),
  WORKFLOW_STACK_TRACES: z
    .enum(['true', 'false'], { error: 'must be true or false' })
    .default('false')
    .describe('true: call stacks in the Web UI and stack traces of failed workflow tasks, for more CPU of the worker.'),
  TRUST_PROXY: trustedProxies
    .optional()
    .describe(
      'Networks of the reverse proxies before the process, or their number. Without it X-Forwarded-For is ignored.',
    ),
  RATE_LIMIT_PER_MINUTE: wholeNumber(1, 1_000_000).default(600).describe('Requests per minute for each API key.'),
  MERCHANT_RATE_LIMIT_PER_MINUTE: wholeNumber(1, 1_000_000)
    .optional()
    .describe('Requests per minute for all keys of a merchant together. Default: RATE_LIMIT_PER_MINUTE.'),
  PUBLIC_RATE_LIMIT_PER_SECOND: wholeNumber(1, 1_000_000)
    .default(50)
    .describe('Requests per second of each client address for QR images, pages and documents, in each process.'),
  MAX_CONNECTIONS: wholeNumber(1, 1_000_000)
    .default(5_000)
    .describe('Connections that an API or a dashboard accepts; it closes further ones.'),
  MAX_CONNECTIONS_PER_CLIENT: wholeNumber(1, 1_000_000)
    .default(100)
    .describe('The same of each client network (IPv4 address, IPv6 /48), proxies of TRUST_PROXY excepted.'),
  MAX_CREATES_IN_FLIGHT: wholeNumber(4, 1_000_000)
    .default(96)
    .describe('Creates in flight at each provider account, in each API process; a merchant has at most a third.'),
  DRAIN_SECONDS: wholeNumber(0, 300)
    .default(5)
    .describe('How long API and dashboard are not ready and still serve after SIGTERM. `lunas up` does not wait.'),
  REFUND_HOLD_SECONDS: wholeNumber(0, 604_800)
    .default(60)
    .describe('How long a refund can be cancelled before it is submitted to the provider.'),
  WORKER_ROLES: workerRoles
    .prefault(WORKER_ROLES.join(','))
    .describe('What a worker does: payments, webhooks, relay, sweeper, payouts, verifier, separated by commas.'),
  DATABASE_POOL_SIZE: wholeNumber(2, 1_000)
    .default(20)
    .describe('Connections of a process to PostgreSQL; the API has eight more, the others one.'),
  WORKFLOW_CACHE_SIZE: wholeNumber(0, 100_000)
    .default(500)
    .describe('Workflows that a worker keeps in memory, about 0.1 MB each.'),
  WORKFLOW_TASK_SLOTS: wholeNumber(4, 10_000)
    .default(40)
    .describe('Workflow tasks in flight in a worker. A provider account has a third of them.'),
  ACTIVITY_SLOTS: wholeNumber(1, 10_000)
    .default(100)
    .describe('Activities in flight in a worker: webhook retries, and steps that are retried.'),
  RELAY_SLOTS: wholeNumber(1, 10_000).default(256).describe('First attempts of webhooks in flight in a relay.'),
  WEBHOOK_ALLOWED_NETWORKS: networks
    .optional()
    .describe('Private networks to which webhooks may be sent. Default: loopback in sandbox, none in production.'),
  WEBHOOK_FORBIDDEN_NETWORKS: networks
    .optional()
    .describe('Networks to which webhooks are never sent, such as your own public addresses. Default: none.'),
  WEBHOOK_RETENTION_DAYS: retentionDays
    .default(90)
    .describe('Days after which final webhook deliveries, their attempts and events are deleted.'),
  NOTIFICATION_RETENTION_DAYS: retentionDays
    .default(90)
    .describe("Days after which providers' notifications are deleted, once they are handled."),
  CUSTOMER_RETENTION_DAYS: retentionDays
    .default(1_825)
    .describe('Days after which `customer` and `metadata` of a payment are deleted.'),
  REQUEST_LOG_ROWS: wholeNumber(1_000, 100_000_000)
    .default(100_000)
    .describe('How many of the newest requests are kept for `lunas logs`.'),
  LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'silent'])
    .default('info')
    .describe('trace, debug, info, warn, error or silent. Logs are JSON lines on standard error.'),
  OTEL_EXPORTER_OTLP_ENDPOINT: url
    .optional()
    .describe('URL of an OpenTelemetry collector; traces go to its path /v1/traces by HTTP. Default: no traces.'),
  METRICS_PORT: port
    .optional()
    .describe('Port of the Prometheus metrics of a process. Default: none; `lunas up` takes free ports.'),
  METRICS_HOST: text
    .default('127.0.0.1')
    .describe(
      'Address on which metrics and the probes of the worker listen. They need no key: keep them out of reach.',
    ),
});

export type Config = z.infer<typeof environmentSchema>;

/** The port of the operator API. */
export function operatorPortOf({ OPERATOR_PORT, PORT }: Pick<Config, 'OPERATOR_PORT' | 'PORT'>): number {
  return OPERATOR_PORT ?? PORT + 2;
}

/** The port of the merchant dashboard. */
export function dashboardPortOf({ DASHBOARD_PORT, PORT }: Pick<Config, 'DASHBOARD_PORT' | 'PORT'>): number {
  return DASHBOARD_PORT ?? PORT + 4;
}

/** `localhost` and not its address: a passkey needs a host name. */
export function dashboardUrlOf(config: Pick<Config, 'DASHBOARD_PORT' | 'DASHBOARD_URL' | 'PORT'>): string {
  return config.DASHBOARD_URL ?? `http://localhost:${dashboardPortOf(config)}`;
}

/**
 * The address of PostgreSQL itself, for a migration: its lock belongs to a session. Undefined if none is configured.
 * @throws UserError if only that of a pooler is configured
 */
export function directDatabaseUrl(config: Config): string | undefined {
  const { DATABASE_URL, DATABASE_DIRECT_URL, DATABASE_POOLER } = config;
  if (DATABASE_DIRECT_URL !== undefined || DATABASE_POOLER === undefined) return DATABASE_DIRECT_URL ?? DATABASE_URL;
  throw new UserError('A migration does not run through a pooler. Set DATABASE_DIRECT_URL to PostgreSQL itself.');
}

/** Where a process serves its metrics. */
export interface MetricsAddress {
  readonly host: string;
  readonly port: number;
}

/** Undefined: the process serves no metrics. */
export function metricsAddressOf({
  METRICS_HOST: host,
  METRICS_PORT: port,
}: Pick<Config, 'METRICS_HOST' | 'METRICS_PORT'>): MetricsAddress | undefined {
  return port === undefined ? undefined : { host, port };
}

/** The port of `lunas codec`. */
export function codecPortOf({ CODEC_PORT, PORT }: Pick<Config, 'CODEC_PORT' | 'PORT'>): number {
  return CODEC_PORT ?? PORT + 3;
}

/**
 * Reads the environment. An empty variable counts as absent.
 * @throws UserError that names each variable with an invalid value
 */
export function loadConfig(environment: NodeJS.ProcessEnv = process.env): Config {
  return parseEnvironment(environmentSchema, environment);
}

/** Parses the environment with a schema that may have more variables than `loadConfig`. */
export function parseEnvironment<Parsed extends Config>(
  schema: z.ZodType<Parsed>,
  environment: NodeJS.ProcessEnv,
): Parsed {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const parsed = schema.safeParse({ ...given, ...readSecretFiles(given) });
  if (parsed.success) return markPooler(trustAuthority(parsed.data));
  const violations = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
  throw new UserError(`The environment has invalid values. ${violations.join('; ')}`);
}

/** In a connection string the authority reaches every pool of a process. */
function trustAuthority<Parsed extends Config>(config: Parsed): Parsed {
  const { DATABASE_TLS_CA: file, DATABASE_URL, DATABASE_DIRECT_URL } = config;
  if (file === undefined) return config;
  // The driver reads it at each connection: without the file every connection would fail, as in an outage.
  readGivenFile('DATABASE_TLS_CA', file);
  return {
    ...config,
    ...(DATABASE_URL !== undefined && { DATABASE_URL: withAuthority(DATABASE_URL, file) }),
    ...(DATABASE_DIRECT_URL !== undefined && { DATABASE_DIRECT_URL: withAuthority(DATABASE_DIRECT_URL, file) }),
  };
}

function withAuthority(databaseUrl: string, file: string): string {
  const url = new URL(databaseUrl);
  url.searchParams.set('sslrootcert', file);
  return url.href;
}

function markPooler<Parsed extends Config>(config: Parsed): Parsed {
  const { DATABASE_URL, DATABASE_POOLER } = config;
  if (DATABASE_URL === undefined || DATABASE_POOLER === undefined) return config;
  return { ...config, DATABASE_URL: throughPooler(DATABASE_URL, DATABASE_POOLER) };
}

/** Secrets that a file may contain: a file is visible neither in the process list nor in `docker inspect`. */
const SECRET_VARIABLES = [
  'DATABASE_URL',
  'DATABASE_DIRECT_URL',
  'TEMPORAL_API_KEY',
  'LUNAS_MASTER_KEY',
  'LUNAS_OLD_MASTER_KEYS',
] as const;

/** @throws UserError if a file is not readable, or the variable is set as well */
function readSecretFiles(given: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const files = SECRET_VARIABLES.flatMap((name) => {
    const file = given[`${name}_FILE`];
    return file === undefined ? [] : [{ name, file }];
  });
  return Object.fromEntries(files.map(({ name, file }) => [name, readSecretFile(name, file, given)]));
}

function readSecretFile(name: string, file: string, given: NodeJS.ProcessEnv): string {
  if (given[name] !== undefined) throw new UserError(`Set ${name} or ${name}_FILE, not both.`);
  return readGivenFile(`${name}_FILE`, file).trim();
}

function readGivenFile(variable: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new UserError(`${variable}: ${file} cannot be read (${codeOf(error) ?? messageOf(error)}).`);
  }
}

/** The sizes of a worker process. */
export interface WorkerSizes {
  readonly databasePool: number;
  readonly workflowCache: number;
  readonly workflowTaskSlots: number;
  readonly activitySlots: number;
  readonly relaySlots: number;
}

export function workerSizesOf(config: Config): WorkerSizes {
  return {
    databasePool: config.DATABASE_POOL_SIZE,
    workflowCache: config.WORKFLOW_CACHE_SIZE,
    workflowTaskSlots: config.WORKFLOW_TASK_SLOTS,
    activitySlots: config.ACTIVITY_SLOTS,
    relaySlots: config.RELAY_SLOTS,
  };
}
