import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import type { Config } from '../config';
import { blockedRange, inNetworks, type NetworkTest } from './special-purpose-networks';
import type { ResolvedAddress, ResolveHost } from './resolve-host';

/** Which receivers may be called: webhooks go to public servers, at their default ports, and nowhere else. */
export interface ReceiverRules {
  readonly environment: Config['LUNAS_ENVIRONMENT'];
  /** `WEBHOOK_ALLOWED_NETWORKS`: CIDRs that are open although they are not public. Default: loopback in the sandbox. */
  readonly allowedNetworks?: readonly string[] | undefined;
}

const DEFAULT_ALLOWED_NETWORKS = { sandbox: ['127.0.0.0/8', '::1/128'], production: [] } as const;
const CONNECT_TIMEOUT_MS = 10_000;

/** The rule that the form of an address breaks, continuing "The URL …"; null where nothing is wrong with it. */
export function urlFormatViolation(text: string, environment: ReceiverRules['environment']): string | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    return 'must be absolute and begin with http:// or https://';
  }
  if (environment === 'production' && url.protocol !== 'https:') return 'must begin with https:// in production';
  if (url.username !== '' || url.password !== '') return 'must not contain a user name or password';
  return null;
}

/**
 * The same for a receiver, as far as can be said before its name is resolved. `URL` has read every spelling of an IPv4
 * address (`0x7f.1`, `2130706433`, `127.1`) by then.
 */
export function urlViolation(text: string, rules: ReceiverRules): string | null {
  const brokenForm = urlFormatViolation(text, rules.environment);
  if (brokenForm !== null) return brokenForm;
  const { hostname, port } = new URL(text);
  if (rules.environment === 'production' && port !== '') return 'must not name a port in production';
  const [literal] = parseIpLiteral(hostname);
  const broken = literal ? addressViolation(literal, port, allowedBy(rules)) : null;
  return broken && `must not lead to ${broken}`;
}

/**
 * Connects undici to receivers, and to nothing else: a host name is resolved, every address of it is checked, and the
 * connection goes to one of those that were checked, so that a name which resolves otherwise a moment later gains nothing.
 * Each new connection passes here, those to IP literals too, for which undici never calls a `lookup`.
 */
export function createGuardedConnector(rules: ReceiverRules, resolve: ResolveHost): buildConnector.connector {
  const isAllowed = allowedBy(rules);
  const connect = async (options: buildConnector.Options, callback: buildConnector.Callback) => {
    try {
      const addresses = await checkHost(options.hostname, options.port, isAllowed, resolve);
      connectTo(addresses)(options, callback);
    } catch (error) {
      callback(error instanceof Error ? error : new Error(String(error)), null);
    }
  };
  return (options, callback) => void connect(options, callback);
}

function connectTo(addresses: readonly ResolvedAddress[]): buildConnector.connector {
  return buildConnector({ timeout: CONNECT_TIMEOUT_MS, maxCachedSessions: 0, lookup: fixedLookup(addresses) });
}

async function checkHost(
  hostname: string,
  port: string,
  isAllowed: NetworkTest,
  resolve: ResolveHost,
): Promise<readonly ResolvedAddress[]> {
  const literals = parseIpLiteral(hostname);
  const addresses = literals.length > 0 ? literals : await resolve(hostname);
  for (const address of addresses) {
    const broken = addressViolation(address, port, isAllowed);
    if (broken) throw new Error(`not called: ${hostname} leads to ${broken}`);
  }
  return addresses;
}

function addressViolation({ address }: ResolvedAddress, port: string, isAllowed: NetworkTest): string | null {
  if (isAllowed(address)) return null;
  const kind = blockedRange(address);
  if (kind) return `${address}, which is ${kind} (WEBHOOK_ALLOWED_NETWORKS can open a network)`;
  return port === '' ? null : `port ${port} of a public address`;
}

function allowedBy({ environment, allowedNetworks }: ReceiverRules): NetworkTest {
  return inNetworks(allowedNetworks ?? DEFAULT_ALLOWED_NETWORKS[environment]);
}

/** The address that a host is already, without its brackets; none for a name. */
function parseIpLiteral(hostname: string): ResolvedAddress[] {
  const address = hostname.replace(/^\[|\]$/g, '');
  const family = isIP(address);
  return family === 4 || family === 6 ? [{ address, family }] : [];
}

/** Stands in for the resolution that `net` would make a second time. */
function fixedLookup(addresses: readonly ResolvedAddress[]): LookupFunction {
  return (_hostname, options, callback) => {
    const [first] = addresses;
    if (options.all || first === undefined) callback(null, [...addresses]);
    else callback(null, first.address, first.family);
  };
}
