import { setTimeout as sleep } from 'node:timers/promises';
import { Progress } from '../../src/local-stack/progress';

function newOutput(isTTY: boolean) {
  const written: string[] = [];
  return { written, isTTY, columns: 40, write: (chunk: string | Uint8Array) => written.push(String(chunk)) > 0 };
}

it('a log has one line for the start and one for the end of a step', async () => {
  const output = newOutput(false);
  const progress = new Progress(output);
  await progress.track('first', async () => {});
  await expect(progress.track('second', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  progress.log('That was it.');
  expect(output.written.join('')).toMatch(
    /^… first\n✓ first \(\d+\.\d s\)\n… second\n✗ second \(\d+\.\d s\)\nThat was it\.\n$/,
  );
});

it('a terminal has one rewritten line for steps, and a line for each message', async () => {
  const output = newOutput(true);
  const progress = new Progress(output);
  const [build, start] = [progress.step('build'), progress.step('start')];
  build.detail('a package with a name that is far longer than the terminal is wide');
  await sleep(600);
  start.done();
  build.done('built');
  const screen = output.written.join('').split('\r\u001B[K');
  expect(screen).toContainEqual(expect.stringMatching(/^… build \(\d+\.\d s\): a package with a nam/));
  expect(screen.every((line) => line.length <= 40)).toBe(true);
  expect(screen.filter((line) => line.endsWith('\n'))).toEqual([
    expect.stringMatching(/^✓ start/),
    expect.stringMatching(/^✓ built/),
  ]);
});
