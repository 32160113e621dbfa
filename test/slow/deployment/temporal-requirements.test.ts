import { randomUUID } from 'node:crypto';
import { status } from '@grpc/grpc-js';
import { z } from 'zod';
import { connectClient } from '../../../src/temporal/connection';
import { NO_PAYLOAD_KEYS } from '../../../src/temporal/payload-codec';
import { requireTemporal } from '../../../src/temporal/requirements';
import { SEARCH_ATTRIBUTES } from '../../../workflows/messages';
import { collectLog } from '../../support/collect-log';
import { runBuiltLunas } from '../../support/lunas-process';
import { newNamespace } from '../../support/service';
import { temporalAddress } from '../../support/temporal';
import { startTemporalStub, type StubResponse } from '../../support/temporal-stub';

const NAMES = ['server_version', 'namespace', 'retention', 'search_attributes'];
const OURS = Object.values(SEARCH_ATTRIBUTES).map(({ name }) => name);
const KEYWORD = 2;

const documentSchema = z.object({
  requirements: z.array(
    z.strictObject({
      name: z.string(),
      state: z.enum(['ok', 'broken', 'not_checked']),
      violation: z.string().nullable(),
      advice: z.string().nullable(),
    }),
  ),
});

async function lunasTemporal(command: 'check' | 'setup', address: string, namespace = 'default') {
  const environment = { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace, LUNAS_HOME: '/nonexistent' };
  const { exitCode, stdout, stderr } = await runBuiltLunas(['temporal', command, '--json'], environment);
  if (stdout === '') return { exitCode, stderr, requirements: [], states: {}, broken: [], violations: '' };
  const { requirements } = documentSchema.parse(JSON.parse(stdout));
  const broken = requirements.filter(({ state }) => state === 'broken').map(({ name }) => name);
  return {
    exitCode,
    stderr,
    requirements,
    states: Object.fromEntries(requirements.map(({ name, state }) => [name, state])),
    broken,
    violations: requirements.map(({ violation }) => violation ?? '').join('\n'),
  };
}

const allIn = (state: string) => Object.fromEntries(NAMES.map((name) => [name, state]));

async function addSearchAttributes(namespace: string, searchAttributes: Record<string, number>): Promise<void> {
  const { connection } = connectClient({ address: temporalAddress(), namespace, security: {} }, NO_PAYLOAD_KEYS);
  await connection.operatorService.addSearchAttributes({ namespace, searchAttributes });
  await connection.close();
}

describe('a Temporal server', () => {
  it('check names what a new namespace lacks, setup creates it, and check finds nothing then', async () => {
    const { namespace } = await newNamespace();
    const before = await lunasTemporal('check', temporalAddress(), namespace);
    expect(before).toMatchObject({ exitCode: 1, broken: ['retention', 'search_attributes'] });
    expect(before.stderr).toBe('error: Broken requirements: retention, search_attributes.\n');
    for (const name of OURS) expect(before.violations).toContain(name);
    expect(before.violations).toContain('The retention is 1 days');

    const done = await lunasTemporal('setup', temporalAddress(), namespace);
    expect(done).toMatchObject({ exitCode: 0, stderr: '', states: allIn('ok') });
    expect(await lunasTemporal('check', temporalAddress(), namespace)).toMatchObject({ exitCode: 0, broken: [] });
  });

  it('setup creates the namespace', async () => {
    const namespace = `test-${randomUUID()}`;
    const before = await lunasTemporal('check', temporalAddress(), namespace);
    expect(before.broken).toContain('namespace');
    expect(before.violations).toContain(`The namespace ${namespace} does not exist.`);
    expect(await lunasTemporal('setup', temporalAddress(), namespace)).toMatchObject({ exitCode: 0, broken: [] });
  });

  it('a search attribute of another type is named, and setup changes nothing of it', async () => {
    const { namespace } = await newNamespace();
    await addSearchAttributes(namespace, { ExpiresAt: KEYWORD });
    const setup = await lunasTemporal('setup', temporalAddress(), namespace);
    expect(setup.violations).toContain('cannot be set up: the type of ExpiresAt cannot change.');
    const { exitCode, broken, requirements } = await lunasTemporal('check', temporalAddress(), namespace);
    expect([exitCode, broken]).toEqual([1, ['search_attributes']]);
    const { violation, advice } = requirements.find(({ name }) => name === 'search_attributes') ?? {};
    expect(violation).toContain('ExpiresAt (Datetime) has another type');
    expect(advice).toContain('Remove one of another type first.');
  });

  it('a Temporal server that is not available is one line', async () => {
    const { exitCode, stderr } = await lunasTemporal('check', '127.0.0.1:1');
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/^error: Temporal at 127\.0\.0\.1:1 is not available: .*ECONNREFUSED.*\.\n$/);
  });

  it('the text has a line for each requirement', async () => {
    const { namespace } = await newNamespace();
    const environment = { TEMPORAL_ADDRESS: temporalAddress(), TEMPORAL_NAMESPACE: namespace };
    const { stdout } = await runBuiltLunas(['temporal', 'check'], { ...environment, LUNAS_HOME: '/nonexistent' });
    expect(
      String(stdout)
        .split('\n')
        .map((line) => line.split(/ {2,}/)[0]),
    ).toEqual(['REQUIREMENT', ...NAMES, '']);
  });
});

describe('a server that rejects calls', () => {
  async function withStub<T>(respond: (method: string) => StubResponse, work: (address: string) => Promise<T>) {
    const stub = await startTemporalStub(respond);
    try {
      return await work(stub.address);
    } finally {
      stub.close();
    }
  }

  it.each(['check', 'setup'] as const)('PERMISSION_DENIED: %s has a line for each requirement', async (command) => {
    const result = await withStub(
      () => status.PERMISSION_DENIED,
      (address) => lunasTemporal(command, address),
    );
    expect(result).toMatchObject({ exitCode: 1, states: { ...allIn('not_checked'), namespace: 'broken' } });
    for (const { violation, advice } of result.requirements) {
      expect([violation, advice]).toEqual([
        expect.stringContaining('PERMISSION_DENIED'),
        expect.stringMatching(/^\S.*\.$/),
      ]);
    }
  });

  it('UNIMPLEMENTED: nothing is broken, and nothing is called checked', async () => {
    const result = await withStub(
      () => status.UNIMPLEMENTED,
      (address) => lunasTemporal('check', address),
    );
    expect(result).toMatchObject({ exitCode: 0, states: allIn('not_checked') });
    expect(result.violations.match(/UNIMPLEMENTED/g)).toHaveLength(NAMES.length);
  });

  it('searches show that an attribute is absent if the server does not list them, as on Temporal Cloud', async () => {
    const respond = (method: string) =>
      method === 'CountWorkflowExecutions' ? status.INVALID_ARGUMENT : status.PERMISSION_DENIED;
    const result = await withStub(respond, (address) => lunasTemporal('setup', address));
    expect(result.states).toMatchObject({ search_attributes: 'broken' });
    const { violation } = result.requirements.find(({ name }) => name === 'search_attributes') ?? {};
    expect(violation).toMatch(/PaymentStatus \(Keyword\) is absent .* cannot be set up: .* \(PERMISSION_DENIED\)\.$/);
  });

  it('a server that is too old is named', async () => {
    const version = Buffer.from('1.28.4');
    const systemInfo = Buffer.concat([Buffer.from([0x0a, version.length]), version]);
    const respond = (method: string) => (method === 'GetSystemInfo' ? systemInfo : status.UNIMPLEMENTED);
    const result = await withStub(respond, (address) => lunasTemporal('check', address));
    expect(result).toMatchObject({ exitCode: 1, broken: ['server_version'] });
    expect(result.violations).toContain('The Temporal server has version 1.28.4.');
  });

  async function startWorker(address: string, log = collectLog().log): Promise<void> {
    const target = { address, namespace: 'default', security: {} };
    const client = connectClient(target, NO_PAYLOAD_KEYS);
    try {
      await requireTemporal({ client, target }, log);
    } finally {
      await client.connection.close();
    }
  }

  it('a worker starts although the first calls time out', async () => {
    const responses = [status.DEADLINE_EXCEEDED, status.DEADLINE_EXCEEDED];
    await withStub(() => responses.shift() ?? status.UNIMPLEMENTED, startWorker);
    expect(responses).toEqual([]);
  });

  it('a worker does not start if no call is responded to, and the error names the server', async () => {
    const start = withStub(() => status.DEADLINE_EXCEEDED, startWorker);
    await expect(start).rejects.toThrow(/namespace: It cannot be checked: .*Repeat it when the server responds/);
  });

  it('a worker starts if the search attributes cannot be checked, and does not if they are absent', async () => {
    const logged = collectLog();
    const start = (address: string) => startWorker(address, logged.log);
    await withStub(() => status.UNIMPLEMENTED, start);
    expect(logged.lines().map(({ requirement }) => requirement)).toEqual(['namespace', 'search_attributes']);

    const absent = (method: string) =>
      method === 'CountWorkflowExecutions' ? status.INVALID_ARGUMENT : status.UNIMPLEMENTED;
    await expect(withStub(absent, start)).rejects.toThrow(/PaymentStatus \(Keyword\) is absent/);
    await expect(withStub(() => status.PERMISSION_DENIED, start)).rejects.toThrow(/no access to the namespace default/);
  });
});
