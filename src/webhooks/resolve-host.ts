import type { LookupAddress } from 'node:dns';
import { lookup, Resolver } from 'node:dns/promises';
import type { Environment } from '../config';

/** Every address of a host name. @throws if there is none */
export type ResolveHost = (hostname: string) => Promise<readonly LookupAddress[]>;

/**
 * In production names are resolved by DNS queries only, which need no thread. The system's resolver uses a pool of
 * four threads for the whole process: a few name servers that do not respond would block it. The sandbox also
 * resolves `localhost` and the names of the hosts file.
 */
export function resolverFor(environment: Environment): ResolveHost {
  return environment === 'production' ? resolveByDns() : (hostname) => lookup(hostname, { all: true });
}

/** @param servers `address:port` of name servers; the system's by default */
export function resolveByDns(servers?: readonly string[]): ResolveHost {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  if (servers) resolver.setServers(servers);
  return async (hostname) => {
    const [ipv4, ipv6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const addresses: LookupAddress[] = [];
    if (ipv4.status === 'fulfilled') addresses.push(...ipv4.value.map((address) => ({ address, family: 4 })));
    if (ipv6.status === 'fulfilled') addresses.push(...ipv6.value.map((address) => ({ address, family: 6 })));
    if (addresses.length > 0) return addresses;
    throw ipv4.status === 'rejected' ? ipv4.reason : new Error(`${hostname} has no address`);
  };
}
