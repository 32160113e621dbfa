import { isIP, isIPv6, SocketAddress } from 'node:net';
import type { Request } from 'express';

const MAPPED_IPV4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/;
const NO_ADDRESS = '0.0.0.0';

/**
 * The caller's IP address in canonical form, as Express determines it behind the proxies of `TRUST_PROXY`. An
 * IPv4-mapped IPv6 address, in any spelling, becomes IPv4. `0.0.0.0` if a proxy sends no address. Not by ipaddr.js 2.5,
 * which also maps the IPv4-compatible `::203.0.113.9`.
 */
export function clientAddress(request: Request): string {
  return canonicalAddress(request.ip ?? '');
}

/** @returns `0.0.0.0` for what is no address */
export function canonicalAddress(text: string): string {
  const address = text.replace(/%.*$/, '');
  switch (isIP(address)) {
    case 4:
      return address;
    case 6: {
      const canonical = new SocketAddress({ address, family: 'ipv6' }).address;
      return MAPPED_IPV4.exec(canonical)?.[1] ?? canonical;
    }
    default:
      return NO_ADDRESS;
  }
}

/**
 * The network that one caller controls: an IPv4 address, or the /64 of an IPv6 address.
 * @param address of `clientAddress`
 * @param groups of 16 bits of an IPv6 address: providers give a customer up to a /48, of 3
 */
export function networkOf(address: string, groups = 4): string {
  if (!isIPv6(address)) return address;
  const [head = [], tail = []] = address.split('::').map((part) => part.split(':').filter(Boolean));
  const zeros = Array.from({ length: Math.max(8 - head.length - tail.length, 0) }, () => '0');
  return `${[...head, ...zeros, ...tail].slice(0, groups).join(':')}::/${groups * 16}`;
}
