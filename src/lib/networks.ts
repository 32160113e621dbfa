import { BlockList, isIP, isIPv6 } from 'node:net';

const BITS = { ipv4: 32, ipv6: 128 } as const;

/** Whether one of the networks contains an address, in any valid notation. */
export type NetworkTest = (address: string) => boolean;

/** @param networks CIDRs and single addresses. An IPv4 network also contains its IPv4-mapped IPv6 addresses. */
export function inNetworks(networks: readonly string[]): NetworkTest {
  // Two lists: in one list, an IPv6 network that contains the mapped addresses would contain all of IPv4.
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const network of networks) {
    const [base = '', prefix] = network.split('/');
    const family = familyOf(base);
    lists[family].addSubnet(base, prefix === undefined ? BITS[family] : Number(prefix), family);
  }
  return (address) => {
    const [bare = ''] = address.split('%'); // without the interface of a link-local address
    const family = familyOf(bare);
    return lists.ipv4.check(bare, family) || (family === 'ipv6' && lists.ipv6.check(bare, family));
  };
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 4 ? 'ipv4' : 'ipv6';
}

/** The groups of 16 bits of an IPv6 address that a customer has: providers give up to a /48. */
export const SITE_GROUPS = 3;

/**
 * The network that one caller controls: an IPv4 address, or the /64 of an IPv6 address.
 * @param address in canonical form, as that of `clientAddress`
 * @param groups of 16 bits of an IPv6 address
 */
export function networkOf(address: string, groups = 4): string {
  if (!isIPv6(address)) return address;
  const [head = [], tail = []] = address.split('::').map((part) => part.split(':').filter(Boolean));
  const zeros = Array.from({ length: Math.max(8 - head.length - tail.length, 0) }, () => '0');
  return `${[...head, ...zeros, ...tail].slice(0, groups).join(':')}::/${groups * 16}`;
}
