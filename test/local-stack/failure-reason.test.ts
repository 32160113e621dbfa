import path from 'node:path';
import { failureReason } from '../../src/local-stack/failure-reason';
import { launch } from '../../src/local-stack/managed-process';
import { temporaryDirectory } from './processes';

const WARNING = { level: 40, msg: 'Node.js 20.19.5 is out of support' };
const write = (line: object | string): string =>
  `process.stderr.write(${JSON.stringify(`${typeof line === 'string' ? line : JSON.stringify(line)}\n`)});`;

/** Runs a process that warns and then ends so, with a log that an earlier process has written to. */
async function reasonOf(end: string): Promise<string> {
  const logFile = path.join(await temporaryDirectory(), 'worker.log');
  const options = { command: process.execPath, logFile, stopSignals: [] };
  const earlier = { ...WARNING, level: 60, msg: 'the failure of an earlier process' };
  await (
    await launch({ ...options, args: ['-e', write(earlier)] })
  ).exited;
  const ended = await launch({ ...options, args: ['-e', `${write(WARNING)}${end}`] });
  await ended.exited;
  return failureReason(ended);
}

it.each([
  ['a module that is missing', "require('./gone')", "Error: Cannot find module './gone'"],
  ['an import that is missing', "import('./gone.js')", /Cannot find module '.*gone\.js'/],
  ['the error that it logged', write({ level: 60, msg: 'fatal error', err: { message: 'no lock' } }), 'no lock'],
  [
    'an error without an exception',
    write({ level: 50, msg: 'the port is taken' }) + write(WARNING),
    'the port is taken',
  ],
  ['the last text', write('PUBLIC_BASE_URL: is not a URL'), 'PUBLIC_BASE_URL: is not a URL'],
  ['the exit code', 'process.exit(7)', 'exit code 7'],
  ['the signal', "process.kill(process.pid, 'SIGKILL')", 'signal SIGKILL'],
])('the reason is %s, and no warning', async (_name, end, reason) => {
  expect(await reasonOf(end)).toMatch(reason);
});
