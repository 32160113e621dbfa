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

it('starts what was killed again and says so, until it is stopped', async () => {
  const said: string[] = [];
  const supervisor = new Supervisor((line) => said.push(line));
  await supervisor.start('idler', () => startScript('setInterval(() => {}, 1000)'), never);
  const first = supervisor.pid('idler');
  supervisor.kill('idler', 'SIGKILL');
  const second = await untilReplaced(supervisor, 'idler', first);
  await eventually(
    async () => said,
    (lines) => lines.length === 2,
  );
  expect(said[0]).toMatch(/^idler ended unexpectedly \(SIGKILL\), starting it again\. Log: \/.*log$/);
  expect(said[1]).toBe('idler runs again.');

  await supervisor.stop('idler');
  expect(supervisor.pid('idler')).toBeNull();
  expect(said).toHaveLength(2);
  expect([first, second].filter((pid) => pid !== null && isAlive(pid))).toEqual([]);
});

it('tries ever more slowly while the start fails, and can be stopped meanwhile', async () => {
  const said: string[] = [];
  const supervisor = new Supervisor((line) => said.push(line));
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
  expect(said[0]).toContain('failer ended unexpectedly (exit code 7)');
  expect(said[1]).toBe('failer does not start again yet: no port');
  await supervisor.stopAll(['failer']);
  const atStop = starts;
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  expect(starts).toBe(atStop);
});

it('leaves a failure of the first start to the caller', async () => {
  const supervisor = new Supervisor(() => {});
  await expect(supervisor.start('x', () => Promise.reject(new Error('no binary')), never)).rejects.toThrow('no binary');
  expect(supervisor.pid('x')).toBeNull();
});

it('kills what does not end when asked', async () => {
  const stubborn = await startScript(
    'process.on("SIGTERM", () => {}); setInterval(() => {}, 1000); console.log("deaf")',
  );
  await eventually(
    () => stubborn.lastLogLines(),
    (said) => said.includes('deaf'),
  );
  await stubborn.stop();
  expect(await stubborn.exited).toEqual({ code: null, signal: 'SIGKILL' });
  expect(isAlive(stubborn.pid)).toBe(false);
});
