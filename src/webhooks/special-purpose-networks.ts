import { BlockList, isIP } from 'node:net';

/**
 * Addresses that cannot be a merchant's server on the internet, by kind. Sources: IANA's special-purpose registries
 * (RFC 6890 and its updates), forms of IPv6 that contain an IPv4 address, and the public-looking addresses of the
 * platform services of Azure (168.63.129.16) and IBM Cloud (161.26.0.0/16, 166.8.0.0/14). If several kinds match, the
 * first one is reported.
 */
const FORBIDDEN_NETWORKS = {
  loopback: ['127.0.0.0/8', '::1/128'],
  private: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7', 'fec0::/10'],
  'link-local': ['169.254.0.0/16', 'fe80::/10'],
  'behind carrier-grade NAT': ['100.64.0.0/10'],
  unspecified: ['0.0.0.0/8', '::/128'],
  multicast: ['224.0.0.0/4', 'ff00::/8'],
  'for documentation': ['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24', '2001:db8::/32', '3fff::/20'],
  'for benchmarks': ['198.18.0.0/15', '2001:2::/48'],
  "a cloud's own service": ['168.63.129.16/32', '161.26.0.0/16', '166.8.0.0/14'],
  'an IPv4 address in IPv6': [
    '::/96', // compatible
    '::ffff:0:0/96', // mapped
    '::ffff:0:0:0/96', // translated
    '64:ff9b::/96', // NAT64
    '64:ff9b:1::/48',
    '2002::/16', // 6to4
    '2001::/32', // Teredo
    '192.88.99.0/24', // 6to4 relays
  ],
  reserved: ['192.0.0.0/24', '240.0.0.0/4', '2001::/23'],
  'outside of the public IPv6 space': ['::/3', '4000::/2', '8000::/1'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

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

const BITS = { ipv4: 32, ipv6: 128 } as const;

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 4 ? 'ipv4' : 'ipv6';
}

const FORBIDDEN_KINDS = Object.entries(FORBIDDEN_NETWORKS).map(
  ([kind, networks]) => [kind, inNetworks(networks)] as const,
);

/** The kind of an address that must not be called; undefined for a public one. */
export function blockedRange(address: string): string | undefined {
  return FORBIDDEN_KINDS.find(([, has]) => has(address))?.[0];
}
