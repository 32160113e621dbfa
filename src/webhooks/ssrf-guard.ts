import type { LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import type { Config } from '../config';
import { blockedRange, inNetworks, type NetworkTest } from './special-purpose-networks';
import type { ResolveHost } from './resolve-host';

/** The receivers that may be called: only public servers, at their default ports. */
export interface ReceiverRules {
  readonly environment: Config['LUNAS_ENVIRONMENT'];
  /**
   * `WEBHOOK_ALLOWED_NETWORKS`: CIDRs that are allowed although they are not public. Default: loopback in the
   * sandbox.
   */
  readonly allowedNetworks?: readonly string[] | undefined;
}

const DEFAULT_ALLOWED_NETWORKS = { sandbox: ['127.0.0.0/8', '::1/128'], production: [] } as const;
const CONNECT_TIMEOUT_MS = 10_000;

/** The rule that the format of a URL violates, as continuation of "The URL …"; null if it violates none. */
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
 * The rule that a receiver's URL violates, before its host name is resolved. `URL` has already normalised every
 * notation of an IPv4 address (`0x7f.1`, `2130706433`, `127.1`).
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
 * Connects undici to allowed receivers only. It resolves the host name, checks every address, and connects to one of
 * the checked addresses: a name that resolves to another address later (DNS rebinding) has no effect. Every new
 * connection passes here, also those to IP literals, for which undici never calls `lookup`.
 */
export function createGuardedConnector(rules: ReceiverRules, resolve: ResolveHost): buildConnector.connector {
  const isAllowed = allowedBy(rules);
  const connect = async (options: buildConnector.Options, callback: buildConnector.Callback) => {
    try {
      const addresses = await checkHost(options.hostname, options.port, isAllowed, resolve);
      const lookup = fixedLookup(addresses);
      buildConnector({ timeout: CONNECT_TIMEOUT_MS, maxCachedSessions: 0, lookup })(options, callback);
    } catch (error) {
      callback(error instanceof Error ? error : new Error(String(error)), null);
    }
  };
  return (options, callback) => void connect(options, callback);
}

async function checkHost(
  hostname: string,
  port: string,
  isAllowed: NetworkTest,
  resolve: ResolveHost,
): Promise<readonly LookupAddress[]> {
  const literals = parseIpLiteral(hostname);
  const addresses = literals.length > 0 ? literals : await resolve(hostname);
  for (const address of addresses) {
    const broken = addressViolation(address, port, isAllowed);
    if (broken) throw new Error(`not called: ${hostname} leads to ${broken}`);
  }
  return addresses;
}

function addressViolation({ address }: LookupAddress, port: string, isAllowed: NetworkTest): string | null {
  if (isAllowed(address)) return null;
  const kind = blockedRange(address);
  if (kind) return `${address}, which is ${kind} (WEBHOOK_ALLOWED_NETWORKS can open a network)`;
  return port === '' ? null : `port ${port} of a public address`;
}

function allowedBy({ environment, allowedNetworks }: ReceiverRules): NetworkTest {
  return inNetworks(allowedNetworks ?? DEFAULT_ALLOWED_NETWORKS[environment]);
}

/** The address if the host is an IP literal, without brackets; empty for a name. */
function parseIpLiteral(hostname: string): LookupAddress[] {
  const address = hostname.replace(/^\[|\]$/g, '');
  const family = isIP(address);
  return family === 0 ? [] : [{ address, family }];
}

/** Replaces the second resolution that `net` would make. */
function fixedLookup(addresses: readonly LookupAddress[]): LookupFunction {
  return (_hostname, options, callback) => {
    const [first] = addresses;
    if (options.all || first === undefined) callback(null, [...addresses]);
    else callback(null, first.address, first.family);
  };
}
