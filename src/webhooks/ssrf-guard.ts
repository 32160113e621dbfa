import type { LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import type { buildConnector } from 'undici';
import type { Environment } from '../config';
import { inNetworks, type NetworkTest } from '../lib/networks';
import type { ResolveHost } from './resolve-host';
import { blockedRange } from './special-purpose-networks';

/** The receivers that may be called: only public servers, at their default ports. */
export interface ReceiverRules {
  readonly environment: Environment;
  /**
   * `WEBHOOK_ALLOWED_NETWORKS`: CIDRs that are allowed although they are not public. Default: loopback in the
   * sandbox.
   */
  readonly allowedNetworks?: readonly string[] | undefined;
  /** `WEBHOOK_FORBIDDEN_NETWORKS`: CIDRs that are never called, public and allowed ones included. Default: none. */
  readonly forbiddenNetworks?: readonly string[] | undefined;
}

/** The rules as tests of one resolved address. `isForbidden` takes precedence. */
export interface AddressRules {
  readonly environment: Environment;
  readonly isAllowed: NetworkTest;
  readonly isForbidden: NetworkTest;
}

/** A sender builds them once: that takes longer than a test. */
export function addressRulesOf({
  environment,
  allowedNetworks = DEFAULT_ALLOWED_NETWORKS[environment],
  forbiddenNetworks = [],
}: ReceiverRules): AddressRules {
  return { environment, isAllowed: inNetworks(allowedNetworks), isForbidden: inNetworks(forbiddenNetworks) };
}

const DEFAULT_ALLOWED_NETWORKS = { sandbox: ['127.0.0.0/8', '::1/128'], production: [] } as const;
const CONNECT_TIMEOUT_MS = 10_000;
/** RFC 6761: the name and the names below it mean the machine itself. */
const LOCALHOST = /(?:^|\.)localhost\.?$/;

/** Every rule of a URL. Pages have a text of their own for each. */
export const URL_RULES = [
  'not_absolute',
  'characters',
  'not_https',
  'credentials',
  'port',
  'localhost',
  'not_public',
] as const;
export type UrlRule = (typeof URL_RULES)[number];

/** The continuation of "The URL …" for each rule. */
const RULE_TEXTS: Readonly<Record<UrlRule, string>> = {
  not_absolute: 'must be absolute and begin with http:// or https://',
  characters: 'must not contain white space, a backslash or a control character',
  not_https: 'must begin with https:// in production',
  credentials: 'must not contain a user name or password',
  port: 'must not name a port in production',
  localhost: 'must not name localhost in production',
  not_public: 'must not lead to an address that is not public',
};

/** The rule that a URL violates. */
export interface UrlViolation {
  readonly rule: UrlRule;
  /** The end of a sentence that begins with "The URL". */
  readonly text: string;
}

function violationOf(rule: UrlRule): UrlViolation {
  return { rule, text: RULE_TEXTS[rule] };
}

/** The rule that the format of a URL violates, as continuation of "The URL …"; null if it violates none. */
export function urlFormatViolation(text: string, environment: ReceiverRules['environment']): string | null {
  return findFormatViolation(text, environment)?.text ?? null;
}

/** `URL` also takes `https:shop.example`, which a browser reads on a page as a path of that page's server. */
const ABSOLUTE = /^https?:\/\//i;
/** `URL` drops or replaces them, other programs do not, and PostgreSQL stores no NUL. */
const IMPOSSIBLE_CHARACTER = /[\s\\\p{Cc}]/u;

function findFormatViolation(text: string, environment: ReceiverRules['environment']): UrlViolation | null {
  const url = ABSOLUTE.test(text) && URL.canParse(text) ? new URL(text) : null;
  if (url === null) return violationOf('not_absolute');
  if (IMPOSSIBLE_CHARACTER.test(text)) return violationOf('characters');
  if (environment === 'production' && url.protocol !== 'https:') return violationOf('not_https');
  return url.username !== '' || url.password !== '' ? violationOf('credentials') : null;
}

/**
 * The rule that a receiver's URL violates, before its host name is resolved. `URL` has already normalised every
 * notation of an IPv4 address (`0x7f.1`, `2130706433`, `127.1`).
 */
export function urlViolation(text: string, rules: AddressRules): string | null {
  return findUrlViolation(text, rules)?.text ?? null;
}

function findUrlViolation(text: string, rules: AddressRules): UrlViolation | null {
  const brokenForm = findFormatViolation(text, rules.environment);
  if (brokenForm !== null) return brokenForm;
  const { hostname, port } = new URL(text);
  if (rules.environment === 'production' && port !== '') return violationOf('port');
  if (rules.environment === 'production' && LOCALHOST.test(hostname)) return violationOf('localhost');
  return mustNotLeadTo(parseIpLiteral(hostname), port, rules);
}

/**
 * The rule that a new receiver's URL violates. In production its host name is resolved too. A name without an address
 * violates none: the merchant may create it later, and every connection is checked again.
 */
export async function receiverViolation(
  text: string,
  receiverRules: ReceiverRules,
  resolve: ResolveHost,
): Promise<UrlViolation | null> {
  const rules = addressRulesOf(receiverRules);
  const violation = findUrlViolation(text, rules);
  if (violation !== null || rules.environment !== 'production') return violation;
  const { hostname, port } = new URL(text);
  if (parseIpLiteral(hostname).length > 0) return null;
  return mustNotLeadTo(await resolve(hostname).catch(() => []), port, rules);
}

function mustNotLeadTo(addresses: readonly LookupAddress[], port: string, rules: AddressRules): UrlViolation | null {
  const violation = firstViolation(addresses, port, rules);
  return violation === null ? null : { rule: 'not_public', text: `must not lead to ${violation}` };
}

/**
 * Connects undici to allowed receivers only. It resolves the host name, checks every address, and connects to one of
 * the checked addresses: a name that resolves to another address later (DNS rebinding) has no effect. Every new
 * connection passes here, also those to IP literals, for which undici never calls `lookup`.
 */
export function createGuardedConnector(rules: AddressRules, resolve: ResolveHost): buildConnector.connector {
  const connect = async (options: buildConnector.Options, callback: buildConnector.Callback) => {
    try {
      const addresses = await checkHost(options.hostname, options.port, rules, resolve);
      const lookup = fixedLookup(addresses);
      // Imported on demand: commands only check the form of an address, and undici takes as long to load as all else.
      const { buildConnector } = await import('undici');
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
  rules: AddressRules,
  resolve: ResolveHost,
): Promise<readonly LookupAddress[]> {
  const literals = parseIpLiteral(hostname);
  const addresses = literals.length > 0 ? literals : await resolve(hostname);
  const violation = firstViolation(addresses, port, rules);
  if (violation) throw new Error(`not called: ${hostname} leads to ${violation}`);
  return addresses;
}

function firstViolation(addresses: readonly LookupAddress[], port: string, rules: AddressRules): string | null {
  return addresses.map((address) => addressViolation(address, port, rules)).find((violation) => violation) ?? null;
}

function addressViolation(
  { address }: LookupAddress,
  port: string,
  { isAllowed, isForbidden }: AddressRules,
): string | null {
  if (isForbidden(address)) return `${address}, which WEBHOOK_FORBIDDEN_NETWORKS forbids`;
  if (isAllowed(address)) return null;
  const kind = blockedRange(address);
  if (kind) return `${address}, which is ${kind} (WEBHOOK_ALLOWED_NETWORKS can open a network)`;
  return port === '' ? null : `port ${port} of a public address`;
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
