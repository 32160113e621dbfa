import path from 'node:path';
import { launch, type ManagedProcess } from '../../src/local-stack/managed-process';
import { Supervisor } from '../../src/local-stack/supervisor';
import { eventually } from '../support/eventually';
import { isAlive, temporaryDirectory } from './processes';

const never = new AbortController().signal;

async function startScript(script: string): Promise<ManagedProcess> {
  const logFile = path.join(await temporaryDirectory(), 'log');
  return launch({
    command: process.execPath,
    args: ['-e', script],
    logFile,
    stopSignals: [{ signal: 'SIGTERM', graceMs: 500 }],
  });
}

const untilReplaced = (supervisor: Supervisor, name: string, oldPid: number | null): Promise<number | null> =>
  eventually(
    async () => supervisor.pid(name),
    (pid) => pid !== null && pid !== oldPid,
  );

it('restarts a killed process and logs it, until stopped', async () => {
  const lines: string[] = [];
  const supervisor = new Supervisor((line) => lines.push(line));
  await supervisor.start('idler', () => startScript('setInterval(() => {}, 1000)'), never);
  const first = supervisor.pid('idler');
  if (first !== null) process.kill(first, 'SIGKILL');
  const second = await untilReplaced(supervisor, 'idler', first);
  await eventually(
    async () => lines,
    ({ length }) => length === 2,
  );
  expect(lines[0]).toMatch(/^idler ended unexpectedly \(SIGKILL\), restarting\. Log: \/.*log$/);
  expect(lines[1]).toBe('idler is running again.');

  await supervisor.stop('idler');
  expect(supervisor.pid('idler')).toBeNull();
  expect(lines).toHaveLength(2);
  expect([first, second].filter((pid) => pid !== null && isAlive(pid))).toEqual([]);
});

it('repeats a failed restart with backoff, until stopped', async () => {
  const lines: string[] = [];
  const supervisor = new Supervisor((line) => lines.push(line));
  let starts = 0;
  const startOnce = async (): Promise<ManagedProcess> => {
    starts += 1;
    if (starts > 1) throw new Error('no port');
    return startScript('setTimeout(() => process.exit(7), 100)');
  };
  await supervisor.start('failer', startOnce, never);
  await eventually(
    async () => starts,
    (count) => count >= 3,
  );
  expect(lines[0]).toContain('failer ended unexpectedly (exit code 7)');
  expect(lines[1]).toBe('failer restart failed: no port');
  await supervisor.stopAll(['failer']);
  const atStop = starts;
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  expect(starts).toBe(atStop);
});

it('throws the error of the first start', async () => {
  const supervisor = new Supervisor(() => {});
  await expect(supervisor.start('x', () => Promise.reject(new Error('no binary')), never)).rejects.toThrow('no binary');
  expect(supervisor.pid('x')).toBeNull();
});

it('kills a process that ignores SIGTERM', async () => {
  const stubborn = await startScript(
    'process.on("SIGTERM", () => {}); setInterval(() => {}, 1000); console.log("started")',
  );
  await eventually(
    () => stubborn.lastLogLines(),
    (output) => output.includes('started'),
  );
  await stubborn.stop();
  expect(await stubborn.exited).toEqual({ code: null, signal: 'SIGKILL' });
  expect(isAlive(stubborn.pid)).toBe(false);
});
