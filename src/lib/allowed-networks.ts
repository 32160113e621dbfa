import { BlockList, isIPv6, SocketAddress } from 'node:net';
import { z } from 'zod';

const networkSchema = z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()]);

/**
 * Whether the text is an IPv4 or IPv6 address or a network in CIDR form. IPv4 in IPv6 notation is not accepted: the API
 * compares callers' addresses in IPv4 notation, so it would never match.
 */
export function isNetwork(text: string): boolean {
  return networkSchema.safeParse(text).success && !isMappedIpv4(text);
}

const MAPPED_IPV4 = /^::ffff:[\d.]+$/;

/** In every notation: `::ffff:10.0.0.1`, `0:0:0:0:0:FFFF:a00:1`, and networks of such addresses. */
function isMappedIpv4(text: string): boolean {
  const [address = ''] = text.split('/');
  return isIPv6(address) && MAPPED_IPV4.test(new SocketAddress({ address, family: 'ipv6' }).address);
}

/**
 * Whether requests from the address may use a key with these networks.
 * @param address IPv4 is in IPv4 notation
 * @param networks in CIDR form, or addresses
 */
export function allowsAddress(networks: readonly string[], address: string): boolean {
  if (networks.length === 0) return true;
  const list = new BlockList();
  for (const network of networks) {
    const [base = '', bits] = network.split('/');
    const family = isIPv6(base) ? 'ipv6' : 'ipv4';
    list.addSubnet(base, bits === undefined ? ADDRESS_BITS[family] : Number(bits), family);
  }
  return list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}

const ADDRESS_BITS = { ipv4: 32, ipv6: 128 } as const;
