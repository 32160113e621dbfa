import { isIP, SocketAddress } from 'node:net';
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
