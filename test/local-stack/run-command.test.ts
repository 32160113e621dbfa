import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { runCommand } from '../../src/local-stack/run-command';
import { eventually } from '../support/eventually';
import { temporaryDirectory, untilGone } from './processes';

const never = new AbortController().signal;

it('returns the output, and reports each line during the run', async () => {
  const lines: string[] = [];
  const output = await runCommand({
    command: process.execPath,
    args: ['-e', 'console.log("one"); console.error("two")'],
    timeoutMs: 10_000,
    signal: never,
    onLine: (line) => lines.push(line),
  });
  expect(output.split('\n').toSorted()).toEqual(['one', 'two']);
  expect(lines.toSorted()).toEqual(['one', 'two']);
});

it('the error of a failed command has its last lines', async () => {
  const failing = { command: process.execPath, args: ['-e', 'console.error("no disk"); process.exit(3)'] };
  await expect(runCommand({ ...failing, timeoutMs: 10_000, signal: never })).rejects.toThrow(/exit code 3\nno disk$/);
  await expect(runCommand({ command: '/nonexistent', args: [], timeoutMs: 10_000, signal: never })).rejects.toThrow(
    /ENOENT/,
  );
});

describe('a command with a child that ignores Ctrl-C', () => {
  async function start(directory: string): Promise<{ args: string[]; grandchild: () => Promise<number> }> {
    const pidFile = path.join(directory, 'pid');
    const script = path.join(directory, 'start.sh');
    const stubborn = `trap "" INT TERM; echo $$ > ${pidFile}; while :; do sleep 1; done`;
    await writeFile(script, `sh -c '${stubborn}' & wait`);
    const grandchild = async (): Promise<number> => Number(await readFile(pidFile, 'utf8').catch(() => ''));
    return { args: [script], grandchild };
  }

  it('ends with its child if aborted', async () => {
    const { args, grandchild } = await start(await temporaryDirectory());
    const aborter = new AbortController();
    const running = runCommand({ command: '/bin/sh', args, timeoutMs: 60_000, signal: aborter.signal });
    const pid = await eventually(grandchild, (found) => found > 0);
    aborter.abort(new Error('enough'));
    await expect(running).rejects.toThrow('enough');
    await untilGone(pid);
  });

  it('ends with its child after the timeout', async () => {
    const { args, grandchild } = await start(await temporaryDirectory());
    const running = runCommand({ command: '/bin/sh', args, timeoutMs: 7_000, signal: never });
    const [pid] = await Promise.all([
      eventually(grandchild, (found) => found > 0),
      expect(running).rejects.toThrow('did not end within 7 s'),
    ]);
    await untilGone(pid);
  });
});
