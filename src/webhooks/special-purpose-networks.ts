import { inNetworks } from '../lib/networks';

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

const FORBIDDEN_KINDS = Object.entries(FORBIDDEN_NETWORKS).map(
  ([kind, networks]) => [kind, inNetworks(networks)] as const,
);

/** The kind of an address that must not be called; undefined for a public one. */
export function blockedRange(address: string): string | undefined {
  return FORBIDDEN_KINDS.find(([, has]) => has(address))?.[0];
}
