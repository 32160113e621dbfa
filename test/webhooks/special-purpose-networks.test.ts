import { assert, integer, property, tuple } from 'fast-check';
import { blockedRange } from '../../src/webhooks/special-purpose-networks';

describe('an address that must not be called', () => {
  it.each([
    ['127.0.0.1', 'loopback'],
    ['127.255.255.254', 'loopback'],
    ['::1', 'loopback'],
    ['0:0:0:0:0:0:0:1', 'loopback'],
    ['10.0.0.1', 'private'],
    ['172.16.0.1', 'private'],
    ['172.31.255.255', 'private'],
    ['192.168.1.1', 'private'],
    ['fc00::1', 'private'],
    ['fd00:ec2::254', 'private'],
    ['fec0::1', 'private'],
    ['169.254.169.254', 'link-local'],
    ['fe80::1', 'link-local'],
    ['fe80::1%eth0', 'link-local'],
    ['100.64.0.1', 'behind carrier-grade NAT'],
    ['100.100.100.200', 'behind carrier-grade NAT'],
    ['100.127.255.255', 'behind carrier-grade NAT'],
    ['0.0.0.0', 'unspecified'],
    ['0.1.2.3', 'unspecified'],
    ['::', 'unspecified'],
    ['224.0.0.1', 'multicast'],
    ['239.255.255.255', 'multicast'],
    ['ff02::1', 'multicast'],
    ['192.0.2.1', 'for documentation'],
    ['198.51.100.1', 'for documentation'],
    ['203.0.113.1', 'for documentation'],
    ['2001:db8::1', 'for documentation'],
    ['3fff::1', 'for documentation'],
    ['198.18.0.1', 'for benchmarks'],
    ['198.19.255.255', 'for benchmarks'],
    ['168.63.129.16', "a cloud's own service"],
    ['::ffff:127.0.0.1', 'loopback'],
    ['::ffff:7f00:1', 'loopback'],
    ['::ffff:10.0.0.1', 'private'],
    ['::ffff:8.8.8.8', 'an IPv4 address in IPv6'],
    ['::127.0.0.1', 'an IPv4 address in IPv6'],
    ['::ffff:0:127.0.0.1', 'an IPv4 address in IPv6'],
    ['64:ff9b::7f00:1', 'an IPv4 address in IPv6'],
    ['64:ff9b::8.8.8.8', 'an IPv4 address in IPv6'],
    ['64:ff9b:1::1', 'an IPv4 address in IPv6'],
    ['2002:7f00:1::', 'an IPv4 address in IPv6'],
    ['2001:0:53aa:64c::1', 'an IPv4 address in IPv6'],
    ['192.88.99.1', 'an IPv4 address in IPv6'],
    ['192.0.0.192', 'reserved'],
    ['255.255.255.255', 'reserved'],
    ['240.0.0.1', 'reserved'],
    ['2001:10::1', 'reserved'],
    ['100::1', 'outside of the public IPv6 space'],
    ['4000::1', 'outside of the public IPv6 space'],
    ['5f00::1', 'outside of the public IPv6 space'],
    ['8000::1', 'outside of the public IPv6 space'],
  ])('%s is %s', (address, kind) => {
    expect(blockedRange(address)).toBe(kind);
  });

  it.each([
    '1.1.1.1',
    '9.255.255.255',
    '11.0.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '126.255.255.255',
    '128.0.0.0',
    '169.253.255.255',
    '172.15.255.255',
    '172.32.0.0',
    '192.167.255.255',
    '198.17.255.255',
    '198.20.0.0',
    '223.255.255.255',
    '2001:4860:4860::8888',
    '2606:4700::1111',
    '2a00::1',
  ])('%s is public', (address) => {
    expect(blockedRange(address)).toBeUndefined();
  });

  it('a forbidden address is rejected behind every prefix that contains an IPv4 address', () => {
    const byte = integer({ min: 0, max: 255 });
    assert(
      property(tuple(byte, byte, byte, byte), (bytes) => {
        const ipv4 = bytes.join('.');
        const hex = Buffer.from(bytes)
          .toString('hex')
          .replace(/^(.{4})/, '$1:');
        for (const address of [`::ffff:${ipv4}`, `::${ipv4}`, `64:ff9b::${ipv4}`, `2002:${hex}::`]) {
          expect([address, blockedRange(address)]).toEqual([address, expect.any(String)]);
        }
      }),
    );
  });
});
