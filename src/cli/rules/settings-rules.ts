import { accessSync, constants } from 'node:fs';
import type { Config, Environment } from '../../config';
import { environmentMismatch } from '../../db/connection/environment';
import { messageOf } from '../../errors';
import { isLoopbackHost } from '../../services/provider-accounts/validate-url';
import { okUnless, type Finding, type Rule } from './rule';

/** What a process or command was given, and the environment that its database records. */
export interface Settings {
  readonly config: Config;
  /** The value of `LUNAS_ENVIRONMENT`, else of the running local stack; undefined if neither is there. */
  readonly environment: Environment | undefined;
  /** Null if the database records none; undefined if the database was not read. */
  readonly recordedEnvironment: Environment | null | undefined;
  readonly databaseUrl: string | undefined;
  readonly temporalAddress: string | undefined;
  /** Undefined if the process does not use it. */
  readonly publicBaseUrl: string | undefined;
  /** Undefined if the process does not use it. Only `lunas dashboard` has a default. */
  readonly dashboardUrl: string | undefined;
}

/** Every process and every command that opens the database requires these rules. */
export const SETTINGS_RULES: readonly Rule<Settings>[] = [
  {
    name: 'environment',
    advice: 'Set LUNAS_ENVIRONMENT to sandbox or production, and DATABASE_URL to a database of that environment.',
    check: checkEnvironment,
  },
  {
    name: 'database_tls',
    advice: 'Add sslmode=verify-full to DATABASE_URL, and set DATABASE_TLS_CA for an authority of your own.',
    check: (settings) => inProduction(settings, databaseTlsViolation),
  },
  {
    name: 'temporal_tls',
    advice: 'Set TEMPORAL_TLS_CERT and TEMPORAL_TLS_KEY, or TEMPORAL_API_KEY.',
    check: (settings) => inProduction(settings, temporalTlsViolation),
  },
  {
    name: 'temporal_certificate',
    advice: 'Set TEMPORAL_TLS_CERT and TEMPORAL_TLS_KEY to two files of one pair, or neither of them.',
    check: ({ config }) => certificateFinding(config),
  },
  {
    name: 'public_base_url',
    advice: 'Set PUBLIC_BASE_URL to the https address of the API.',
    check: (settings) => inProduction(settings, publicBaseUrlViolation),
  },
  {
    name: 'dashboard_url',
    advice: 'Set DASHBOARD_URL to the https address of the dashboard, with a host of its own and no path.',
    check: (settings) => inProduction(settings, dashboardUrlViolation),
  },
  {
    name: 'operator_listener',
    advice: 'Set OPERATOR_HOST to 127.0.0.1, and let a proxy on the same host terminate TLS.',
    check: (settings) => inProduction(settings, operatorListenerViolation),
  },
  {
    name: 'trace_collector',
    advice: 'Set OTEL_EXPORTER_OTLP_ENDPOINT to an https address, or to a collector on the same host.',
    check: (settings) => inProduction(settings, traceCollectorViolation),
  },
];

function checkEnvironment({ environment, recordedEnvironment }: Settings): Finding {
  if (recordedEnvironment === undefined && environment !== undefined) return 'not applicable';
  if (recordedEnvironment === undefined) {
    return { violation: 'It is not known whether this is sandbox or production: LUNAS_ENVIRONMENT is not set.' };
  }
  if (recordedEnvironment === null) {
    return { violation: 'The database does not record whether it is sandbox or production. Run `lunas migrate`.' };
  }
  return okUnless(environmentMismatch(environment, recordedEnvironment));
}

/** The rule applies to a process of production, and to a database of production. */
function inProduction(settings: Settings, violationOf: (settings: Settings) => string | null | undefined): Finding {
  const { environment, recordedEnvironment } = settings;
  if (![environment, recordedEnvironment].includes('production')) return 'not applicable';
  const violation = violationOf(settings);
  return violation === undefined ? 'not applicable' : okUnless(violation);
}

/** `require` is not accepted: its meaning depends on the version of the driver. */
function databaseTlsViolation({ databaseUrl }: Settings): string | null | undefined {
  if (databaseUrl === undefined) return undefined;
  const modes = new URL(databaseUrl).searchParams.getAll('sslmode');
  const isVerified = modes.length > 0 && modes.every((mode) => mode === 'verify-full');
  if (isVerified || isLocalDatabase(databaseUrl)) return null;
  return 'The connection to the production database does not use TLS with a verified certificate.';
}

/** By the host to which the driver connects: a parameter of the URL replaces its host. */
function isLocalDatabase(databaseUrl: string): boolean {
  const { searchParams, hostname } = new URL(databaseUrl);
  const host = searchParams.getAll('host').at(-1) ?? decodeURIComponent(hostname);
  return host.startsWith('/') || isLoopbackHost(host);
}

function temporalTlsViolation({ config, temporalAddress }: Settings): string | null | undefined {
  if (temporalAddress === undefined) return undefined;
  const { TEMPORAL_API_KEY, TEMPORAL_TLS_CERT, TEMPORAL_TLS_KEY } = config;
  const isProven =
    TEMPORAL_API_KEY !== undefined || (TEMPORAL_TLS_CERT !== undefined && TEMPORAL_TLS_KEY !== undefined);
  if (isProven || isLoopbackHost(temporalAddress.replace(/:\d+$/, ''))) return null;
  return `Temporal at ${temporalAddress} has no TLS with a client certificate or API key, which production requires.`;
}

/** Half of a pair would be ignored, and the connection would have no client certificate. */
function certificateFinding({ TEMPORAL_TLS_CA, TEMPORAL_TLS_CERT, TEMPORAL_TLS_KEY }: Config): Finding {
  if ((TEMPORAL_TLS_CERT === undefined) !== (TEMPORAL_TLS_KEY === undefined)) {
    const present = TEMPORAL_TLS_CERT === undefined ? 'TEMPORAL_TLS_KEY' : 'TEMPORAL_TLS_CERT';
    return { violation: `Only ${present} of the certificate pair is set; neither sandbox nor production starts so.` };
  }
  const files = [TEMPORAL_TLS_CA, TEMPORAL_TLS_CERT, TEMPORAL_TLS_KEY].filter((file) => file !== undefined);
  return files.length === 0 ? 'not applicable' : okUnless(unreadable(files));
}

function unreadable(files: readonly string[]): string | null {
  try {
    for (const file of files) accessSync(file, constants.R_OK);
    return null;
  } catch (error) {
    return `A certificate file cannot be read: ${messageOf(error)}.`;
  }
}

function publicBaseUrlViolation({ publicBaseUrl }: Settings): string | null | undefined {
  if (publicBaseUrl === undefined) return undefined;
  if (publicBaseUrl.startsWith('https://')) return null;
  return `PUBLIC_BASE_URL is not an https address in production: ${publicBaseUrl}.`;
}

/** A flaw in one origin cannot act in another. Cookies ignore ports, so the hosts are compared. */
function dashboardUrlViolation({ dashboardUrl, publicBaseUrl }: Settings): string | null | undefined {
  if (dashboardUrl === undefined) return undefined;
  const { protocol, hostname, href, origin } = new URL(dashboardUrl);
  if (protocol !== 'https:') return `DASHBOARD_URL is not an https address in production: ${dashboardUrl}.`;
  if (href !== `${origin}/`) return `DASHBOARD_URL has more than a host: ${dashboardUrl}.`;
  if (publicBaseUrl === undefined || new URL(publicBaseUrl).hostname !== hostname) return null;
  return `The dashboard has the host of PUBLIC_BASE_URL: ${hostname}.`;
}

/** 0.0.0.0 is an address of this host for a caller, and every interface for a listener. */
const EVERY_INTERFACE = /^[0:.]+$/;

/** The listener has no TLS, and each request has an operator key. */
function operatorListenerViolation({ config: { OPERATOR_HOST } }: Settings): string | null {
  if (isLoopbackHost(OPERATOR_HOST) && !EVERY_INTERFACE.test(OPERATOR_HOST)) return null;
  return `The operator API listens on ${OPERATOR_HOST}, where operator keys are sent in clear.`;
}

function traceCollectorViolation({ config }: Settings): string | null | undefined {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } = config;
  if (endpoint === undefined) return undefined;
  const { protocol, hostname } = new URL(endpoint);
  if (protocol === 'https:' || isLoopbackHost(hostname)) return null;
  return `Traces are sent in clear to ${endpoint}.`;
}
