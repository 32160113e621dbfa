import path from 'node:path';
import { z } from 'zod';
import { UserError } from './errors';
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

const port = wholeNumber(1, 65_535);
const url = z.url({ protocol: /^https?$/ }).transform((value) => value.replace(/\/+$/, ''));
const masterKey = z.base64().refine((value) => Buffer.from(value, 'base64').length === 32, {
  error: 'must be 32 bytes in base64, as `openssl rand -base64 32` prints',
});
const list = z.string().transform((value) =>
  value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== ''),
);

const network = z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()]);

/** Whoever is trusted says who the caller is: trusting everyone (`/0`) would let callers choose their address. */
function isTrustable(proxy: string): boolean {
  return network.safeParse(proxy).success && !proxy.endsWith('/0');
}

const networks = list.refine((cidrs) => cidrs.length > 0 && cidrs.every((cidr) => network.safeParse(cidr).success), {
  error: 'must be addresses and networks, separated by commas (10.0.0.0/8,fd00::/8)',
});

const trustedProxies = z.union([
  wholeNumber(0, 10),
  list.refine((proxies) => proxies.length > 0 && proxies.every(isTrustable), {
    error:
      'must be how many proxies stand before the API (1), or their addresses and networks (10.0.0.0/8,2001:db8::7), not everyone',
  }),
]);

/** Every environment variable that Lunas reads, and its default. An absent address is found in `LUNAS_HOME` by the CLI. */
const environmentSchema = z.object({
  PORT: port.default(3000),
  HOST: z.string().min(1).default('127.0.0.1'),
  PUBLIC_BASE_URL: url.optional(),
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/ }).optional(),
  TEMPORAL_ADDRESS: z
    .string()
    .regex(/^[^\s:/]+:\d+$/, { error: 'must be host:port' })
    .optional(),
  TEMPORAL_NAMESPACE: z.string().min(1).default('default'),
  TEMPORAL_API_KEY: z.string().min(1).optional(),
  TEMPORAL_TLS_CA: z.string().min(1).optional(),
  TEMPORAL_TLS_CERT: z.string().min(1).optional(),
  TEMPORAL_TLS_KEY: z.string().min(1).optional(),
  TEMPORAL_TLS_SERVER_NAME: z.string().min(1).optional(),
  TEMPORAL_PORT: port.default(7233),
  TEMPORAL_UI_PORT: port.default(8233),
  TEMPORAL_CLI_PATH: z.string().min(1).optional(),
  TEMPORAL_TEST_SERVER_PATH: z.string().min(1).optional(),
  POSTGRES_PORT: port.default(5433),
  SANDBOX_PORT: port.default(3001),
  SANDBOX_URL: url.optional(),
  LUNAS_HOME: z
    .string()
    .min(1)
    .default('.lunas')
    .transform((directory) => path.resolve(PACKAGE_ROOT, directory)),
  XDG_CACHE_HOME: z.string().min(1).optional(),
  LUNAS_ENVIRONMENT: z.enum(['sandbox', 'production']).default('sandbox'),
  LUNAS_MASTER_KEY: masterKey.optional(),
  LUNAS_RECOVERY_MODE: z.enum(['true', 'false'], { error: 'must be true or false' }).default('false'),
  TRUST_PROXY: trustedProxies.optional(),
  RATE_LIMIT_PER_MINUTE: wholeNumber(1, 1_000_000).default(600),
  REFUND_HOLD_SECONDS: wholeNumber(0, 604_800).default(60),
  WEBHOOK_ALLOWED_NETWORKS: networks.optional(),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'silent']).default('info'),
  METRICS_PORT: port.optional(),
});

export type Config = z.infer<typeof environmentSchema>;

/**
 * Reads the environment. An empty variable counts as absent.
 * @throws UserError that names each variable with an unusable value
 */
export function loadConfig(environment: NodeJS.ProcessEnv = process.env): Config {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const parsed = environmentSchema.safeParse(given);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
  throw new UserError(`The environment has unusable values. ${faults.join('; ')}`);
}
