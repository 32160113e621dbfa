import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { directDatabaseUrl, loadConfig, operatorPortOf } from '../src/config';
import { poolModeOf } from '../src/lib/pooler';
import { temporaryDirectory } from './local-stack/processes';

describe('TRUST_PROXY', () => {
  it.each([
    ['0', 0],
    ['2', 2],
    ['10.0.0.0/8', ['10.0.0.0/8']],
    ['127.0.0.1, 2001:db8::/32', ['127.0.0.1', '2001:db8::/32']],
    ['::1,fc00::/7', ['::1', 'fc00::/7']],
  ])('TRUST_PROXY may be %s', (text, value) => {
    expect(loadConfig({ TRUST_PROXY: text }).TRUST_PROXY).toEqual(value);
  });

  it.each([
    'true',
    'loopback',
    '-1',
    '1.5',
    '99',
    ',',
    '10.0.0.0/33',
    '0.0.0.0/0',
    '::/0',
    '0.0.0.0/1,128.0.0.0/1',
    '10.0.0.0/7',
    '::/1',
    'fc::/7',
    '::ffff:0:0/96',
    '0:0:0:0:0:ffff::/96',
    '10.0.0.1,x',
    'proxy.example',
  ])('TRUST_PROXY %s is rejected in one sentence that names it', (text) => {
    expect(() => loadConfig({ TRUST_PROXY: text })).toThrow(
      expect.objectContaining({
        name: 'UserError',
        message:
          'The environment has invalid values. TRUST_PROXY: must be the number of proxies in front of the API (1), ' +
          'or their addresses and networks (10.0.0.0/8,2001:db8::7), no network wider than /8 (IPv6: /16)',
      }),
    );
  });
});

describe('a number', () => {
  it.each([
    ['PORT', 'must be a whole number from 1 to 65535', ['0', '65536', '80 80', '0x50', '1e3', '-1', 'abc']],
    ['RATE_LIMIT_PER_MINUTE', 'must be a whole number from 1 to 1000000', ['0', 'NaN', '1.5', 'Infinity']],
    ['REFUND_HOLD_SECONDS', 'must be a whole number from 0 to 604800', ['-1', '1m', 'one']],
  ])('%s %s', (variable, rule, values) => {
    for (const value of values) {
      expect(() => loadConfig({ [variable]: value })).toThrow(
        expect.objectContaining({
          name: 'UserError',
          message: `The environment has invalid values. ${variable}: ${rule}`,
        }),
      );
    }
  });

  it('a number has its default if the variable is absent or empty', () => {
    const { PORT, RATE_LIMIT_PER_MINUTE, REFUND_HOLD_SECONDS, TRUST_PROXY } = loadConfig({ PORT: '' });
    expect([PORT, RATE_LIMIT_PER_MINUTE, REFUND_HOLD_SECONDS, TRUST_PROXY]).toEqual([3000, 600, 60, undefined]);
  });

  it('the operator API has the second port after that of the API, on loopback', () => {
    expect(operatorPortOf(loadConfig({ PORT: '4000' }))).toBe(4002);
    expect(operatorPortOf(loadConfig({ PORT: '4000', OPERATOR_PORT: '5000' }))).toBe(5000);
    expect(loadConfig({}).OPERATOR_HOST).toBe('127.0.0.1');
  });
});

describe('a master key', () => {
  const key = Buffer.alloc(32).toString('base64');

  it('a master key is rejected by two variables, and in a file that cannot be read', () => {
    expect(() => loadConfig({ LUNAS_MASTER_KEY: key, LUNAS_MASTER_KEY_FILE: '/run/key' })).toThrow(
      'Set LUNAS_MASTER_KEY or LUNAS_MASTER_KEY_FILE, not both.',
    );
    expect(() => loadConfig({ LUNAS_MASTER_KEY_FILE: '/nonexistent/key' })).toThrow(
      'LUNAS_MASTER_KEY_FILE: /nonexistent/key cannot be read (ENOENT).',
    );
  });

  it('old master keys are a list', () => {
    expect(loadConfig({ LUNAS_OLD_MASTER_KEYS: `${key}, ${key}` }).LUNAS_OLD_MASTER_KEYS).toEqual([key, key]);
    expect(() => loadConfig({ LUNAS_OLD_MASTER_KEYS: `${key},short` })).toThrow('LUNAS_OLD_MASTER_KEYS');
  });
});

describe('a secret in a file', () => {
  const databaseUrl = 'postgresql://api:secret@db:5432/lunas';
  const masterKey = Buffer.alloc(32).toString('base64');

  it.each([
    ['DATABASE_URL', databaseUrl, databaseUrl],
    ['DATABASE_DIRECT_URL', databaseUrl, databaseUrl],
    ['TEMPORAL_API_KEY', 'key', 'key'],
    ['LUNAS_MASTER_KEY', masterKey, masterKey],
    ['LUNAS_OLD_MASTER_KEYS', masterKey, [masterKey]],
  ] as const)('%s_FILE has the value without the line break', async (name, content, value) => {
    const file = path.join(await temporaryDirectory(), 'secret');
    await writeFile(file, `${content}\n`);
    expect(loadConfig({ [`${name}_FILE`]: file })[name]).toEqual(value);
    expect(() => loadConfig({ [name]: content, [`${name}_FILE`]: file })).toThrow(`Set ${name} or ${name}_FILE`);
  });
});

it('DATABASE_TLS_CA is the authority of both addresses of the database', async () => {
  const DATABASE_URL = 'postgresql://api:secret@db:5432/lunas?sslmode=verify-full';
  const file = path.join(await temporaryDirectory(), 'ca.crt');
  const load = () => loadConfig({ DATABASE_URL, DATABASE_DIRECT_URL: DATABASE_URL, DATABASE_TLS_CA: file });
  expect(load).toThrow(`DATABASE_TLS_CA: ${file} cannot be read (ENOENT).`);
  await writeFile(file, '');
  const addresses = [load().DATABASE_URL, load().DATABASE_DIRECT_URL].map((url) => new URL(url ?? ''));
  expect(addresses.map(({ searchParams }) => searchParams.get('sslrootcert'))).toEqual([file, file]);
});

describe('DATABASE_POOLER', () => {
  const DATABASE_URL = 'postgresql://api:secret@db:6432/lunas';
  const DATABASE_DIRECT_URL = 'postgresql://migrator:secret@db:5432/lunas';

  it('DATABASE_POOLER is session or transaction', () => {
    expect(() => loadConfig({ DATABASE_POOLER: 'statement' })).toThrow(
      'The environment has invalid values. DATABASE_POOLER: must be session or transaction',
    );
  });

  it.each(['session', 'transaction'])('%s is the mode of DATABASE_URL', (DATABASE_POOLER) => {
    const config = loadConfig({ DATABASE_URL, DATABASE_POOLER });
    expect(poolModeOf(config.DATABASE_URL ?? '')).toBe(DATABASE_POOLER);
    expect(poolModeOf(loadConfig({ DATABASE_URL }).DATABASE_URL ?? '')).toBeUndefined();
  });

  it('a migration uses DATABASE_DIRECT_URL, else DATABASE_URL if that is no pooler', () => {
    const address = (environment: NodeJS.ProcessEnv) => directDatabaseUrl(loadConfig(environment));
    expect(address({ DATABASE_URL, DATABASE_POOLER: 'session', DATABASE_DIRECT_URL })).toBe(DATABASE_DIRECT_URL);
    expect(address({ DATABASE_POOLER: 'session', DATABASE_DIRECT_URL })).toBe(DATABASE_DIRECT_URL);
    expect(address({ DATABASE_URL })).toBe(DATABASE_URL);
    expect(address({})).toBeUndefined();
    expect(() => address({ DATABASE_URL, DATABASE_POOLER: 'session' })).toThrow('Set DATABASE_DIRECT_URL');
  });
});
