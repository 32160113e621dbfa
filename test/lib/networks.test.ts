import { inNetworks } from '../../src/lib/networks';

describe('networks', () => {
  it('networks are CIDRs and single addresses of both families', () => {
    const has = inNetworks(['10.1.0.0/16', '192.0.2.7', 'fd00::/8', '::1']);
    const results = ['10.1.255.1', '10.2.0.1', '192.0.2.7', '192.0.2.8', 'fd12::1', 'fe80::1', '::1', '::2'].map(has);
    expect(results).toEqual([true, false, true, false, true, false, true, false]);
  });

  it('contain the mapped addresses of an IPv4 network, and no IPv4 address for an IPv6 network', () => {
    expect(inNetworks(['127.0.0.0/8'])('::ffff:127.0.0.1')).toBe(true);
    expect(inNetworks(['::/0'])('127.0.0.1')).toBe(false);
    expect(inNetworks(['0.0.0.0/0'])('::1')).toBe(false);
  });
});
