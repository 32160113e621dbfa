import { isIP } from 'node:net';
import { InvalidError } from '../../errors';
import { inNetworks } from '../../lib/networks';

const isLoopbackAddress = inNetworks(['127.0.0.0/8', '0.0.0.0/32', '::1/128', '::/128']);

/** Whether a host of a URL is this machine, by its name or address. */
export function isLoopbackHost(host: string): boolean {
  const name = host.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  return /(?:^|\.)localhost$/i.test(name) || (isIP(name) !== 0 && isLoopbackAddress(name));
}

/**
 * Returns the URL if it violates no rule.
 * @throws InvalidError that names the violated rule
 */
export function assertUrl(url: string, violation: string | null): string {
  if (violation !== null) throw new InvalidError('url', `The URL ${violation}: ${url}`);
  return url;
}
