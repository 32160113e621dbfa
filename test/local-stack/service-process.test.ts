import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PACKAGE_ROOT } from '../../src/package-info';
import { temporaryDirectory } from './processes';

const BUILT = path.join(PACKAGE_ROOT, 'dist', 'src');
const started: ChildProcess[] = [];

afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
});

interface Service {
  readonly child: ChildProcess;
  readonly exited: Promise<{ code: number | null; stderr: string }>;
}

/** Starts a process that runs `runService` with this start function. */
async function run(start: string): Promise<Service> {
  const file = path.join(await temporaryDirectory(), 'service.js');
  await writeFile(
    file,
    `const { runService } = require(${JSON.stringify(path.join(BUILT, 'cli', 'service-process.js'))});
    const { UserError } = require(${JSON.stringify(path.join(BUILT, 'errors.js'))});
    setInterval(() => {}, 1000);
    void runService('test', ${start});`,
  );
  const child = fork(file, { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
  started.push(child);
  return { child, exited: readToEnd(child) };
}

async function readToEnd(child: ChildProcess): Promise<{ code: number | null; stderr: string }> {
  let stderr = '';
  for await (const chunk of child.stderr ?? []) stderr += String(chunk);
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return { code: child.exitCode, stderr };
}

async function ready({ child }: Service): Promise<void> {
  const [message]: unknown[] = await once(child, 'message');
  expect(message).toEqual({ ready: true });
}

const CLOSING = `async (log) => ({ close: async () => log.info('closed') })`;

it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
  'reports that it is ready, and stops gracefully on %s',
  async (signal) => {
    const service = await run(CLOSING);
    await ready(service);
    service.child.kill(signal);
    const { code, stderr } = await service.exited;
    expect([code, stderr]).toEqual([0, expect.stringContaining('"msg":"closed"')]);
  },
);

it('stops gracefully if its parent process ends', async () => {
  const service = await run(CLOSING);
  await ready(service);
  service.child.disconnect();
  const { code, stderr } = await service.exited;
  expect([code, stderr]).toEqual([0, expect.stringContaining('"msg":"closed"')]);
});

it('stops after its start if stopped during the start', async () => {
  const service = await run(`async (log) => {
    process.send('starting');
    await new Promise((resolve) => setTimeout(resolve, 300));
    return { close: async () => log.info('closed') };
  }`);
  await once(service.child, 'message');
  service.child.kill('SIGTERM');
  const { code, stderr } = await service.exited;
  expect([code, stderr]).toEqual([0, expect.stringContaining('"msg":"closed"')]);
});

it('exits immediately on a second signal, but not on two signals of one key press', async () => {
  const service = await run(`async () => ({ close: () => new Promise(() => {}) })`);
  await ready(service);
  service.child.kill('SIGINT');
  service.child.kill('SIGTERM');
  await sleep(1_500);
  expect(service.child.exitCode).toBeNull();
  service.child.kill('SIGINT');
  expect((await service.exited).code).toBe(1);
});

it('prints a UserError as one line', async () => {
  const service = await run(`async () => { throw new UserError('Port 3000 is taken.'); }`);
  expect(await service.exited).toEqual({ code: 1, stderr: 'Port 3000 is taken.\n' });
});

it.each([
  ['its start', `async () => { throw new Error('boom'); }`],
  [
    'a callback',
    `async () => { setTimeout(() => { throw new Error('boom'); }, 50); return { close: async () => {} }; }`,
  ],
  [
    'a promise',
    `async () => { setTimeout(() => Promise.reject(new Error('boom')), 50); return { close: async () => {} }; }`,
  ],
  [
    'its end',
    `async () => { process.kill(process.pid, 'SIGTERM'); return { close: async () => { throw new Error('boom'); } }; }`,
  ],
])('logs an error in %s and exits with code 1', async (_where, start) => {
  const { code, stderr } = await (await run(start)).exited;
  expect(code).toBe(1);
  expect(JSON.parse(stderr.trim())).toMatchObject({ level: 60, process: 'test', err: { message: 'boom' } });
});
