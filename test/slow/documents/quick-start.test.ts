import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { freePort } from '../../../src/local-stack/ports';
import { PACKAGE_ROOT } from '../../../src/package-info';
import { eventually } from '../../support/eventually';
import { freePorts } from '../../support/lunas-process';
import { testEnvironment } from '../../support/test-environment';

/** docs/quick-start.md, word for word, in a fresh clone. Only the ports differ: others run on this machine. */

const TIMEOUT_MS = 600_000;
const STEP_TIMEOUT_MS = 300_000;

const page = readFileSync(path.join(PACKAGE_ROOT, 'docs', 'quick-start.md'), 'utf8');
const blocks = [...page.matchAll(/^```(\w*)\n(.*?)^```$/gms)];
const blocksIn = (language: string) => blocks.flatMap(([, of, text = '']) => (of === language ? [text.trim()] : []));
const commands = blocksIn('');
const [server = ''] = blocksIn('js');

const directory = mkdtempSync(path.join(os.tmpdir(), 'lunas-quick-start-'));
const clone = path.join(directory, 'lunas');
const terminals: ChildProcess[] = [];

afterAll(async () => {
  for (const terminal of terminals.toReversed()) await stop(terminal);
  rmSync(directory, { recursive: true, force: true });
}, STEP_TIMEOUT_MS);

/** Ctrl-C: `lunas up` stops its servers, which a SIGKILL would leave. */
async function stop(terminal: ChildProcess): Promise<void> {
  if (terminal.pid === undefined || terminal.exitCode !== null || terminal.signalCode !== null) return;
  process.kill(-terminal.pid, 'SIGINT');
  await once(terminal, 'exit');
}

interface Terminal {
  printed: string;
}

function type(command: string, cwd: string, environment: NodeJS.ProcessEnv): Terminal {
  const child = spawn('bash', ['-c', command], { cwd, env: { ...process.env, ...environment }, detached: true });
  terminals.push(child);
  const terminal = { printed: '' };
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (terminal.printed += String(text)));
  return terminal;
}

/** Waits until the terminal shows it. @returns the text */
async function read(terminal: Terminal, expected: RegExp): Promise<string> {
  const printed = await eventually(
    async () => terminal.printed,
    (printed) => expected.test(printed),
    STEP_TIMEOUT_MS,
  );
  return expected.exec(printed)?.[0] ?? '';
}

it(
  'leads to a webhook in the own server, a refund and a payout',
  async () => {
    execFileSync('git', ['clone', '--quiet', PACKAGE_ROOT, clone]);
    const shopPort = String(await freePort());
    const environment = { ...(await freePorts()), TEMPORAL_CLI_PATH: testEnvironment('TEMPORAL_CLI_PATH') };
    const inPage = (text: string) => text.replaceAll('4000', shopPort);
    const [start = '', listen = '', install = '', run = '', trigger = '', ...next] = commands.map(inPage);
    expect(next).toHaveLength(4);
    const startedAt = performance.now();

    const lunas = type(start, clone, environment);
    const key = await read(lunas, /sk_test_\w{20,}/);
    const listening = type(listen.replace('sk_test_…', key), clone, environment);
    const secret = await read(listening, /whsec_[\w+/]{20,}={0,2}/);
    await read(type(`${install} && echo installed`, clone, environment), /installed\n$/);
    const shop = path.join(directory, 'my-shop');
    writeFileSync(path.join(shop, 'server.mjs'), inPage(server));
    const receiving = type(run.replace('whsec_…', secret), shop, {});
    const triggered = type(trigger, clone, environment);
    await read(receiving, /payment\.created .*\npayment\.pending .*\npayment\.paid [0-9a-f-]{36} TRIGGER-/);
    expect((await fetch(`http://localhost:${shopPort}`, { method: 'POST' })).status).toBe(401);
    await read(receiving, /WebhookVerificationError: The request has no signature/);

    process.stderr.write(`The quick start took ${Math.round((performance.now() - startedAt) / 1_000)} s.\n`);
    await read(listening, /payment\.paid\s+[0-9a-f-]{36} {2}TRIGGER-[0-9A-F]{8} {2}200/);

    const [refund = '', settle = '', approve = '', payout = ''] = next;
    const payment = /LN\w{18}/.exec(triggered.printed)?.[0] ?? '';
    const url = /API +(http:\S+)/.exec(lunas.printed)?.[1] ?? '';
    const ofPayment = refund.replaceAll('LN…', payment).replace('sk_test_…', key);
    type(ofPayment.replace('http://127.0.0.1:3000', url), clone, environment);
    await read(receiving, /payment\.refund_processing .*\npayment\.refunded /);

    const merchant = /Merchant +([0-9a-f-]{36})/.exec(lunas.printed)?.[1] ?? '';
    const proposed = type(settle.replace('MERCHANT_ID', merchant), clone, environment);
    const account = (await read(proposed, /account [0-9a-f-]{36}/)).slice('account '.length);
    await repeat(approve.replace('ACCOUNT_ID', account), environment, /is active/);
    const [create = '', ...rest] = payout.split('\n');
    const reference = await repeat(create.replace('MERCHANT_ID', merchant), environment, /LP\w{18}/);
    const [decide = '', list = ''] = rest.map((command) => command.replace('LP…', reference));
    await read(type(decide, clone, environment), /is (?:approved|submitted|completed)/);
    await repeat(list, environment, new RegExp(`${reference} +completed`));
  },
  TIMEOUT_MS,
);

/** The reader waits, and enters the command again until it prints what the page promises. @returns the text */
async function repeat(command: string, environment: NodeJS.ProcessEnv, expected: RegExp): Promise<string> {
  const printed = await eventually(
    async () => spawnSync('bash', ['-c', command], { cwd: clone, env: { ...process.env, ...environment } }).stdout,
    (stdout) => expected.test(String(stdout)),
    STEP_TIMEOUT_MS,
  );
  return expected.exec(String(printed))?.[0] ?? '';
}
