import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { transitionWriters } from '../../src/db/transitions/payment-transitions';
import { LUNAS } from '../support/lunas-process';
import { createTestLedger, creation, type TestLedger } from '../support/payments';
import { temporalAddress } from '../support/temporal';

const REPORT_MODULES = path.join(__dirname, '..', 'support', 'report-modules.cjs');
const RUNS = 5;

/**
 * The CPU of a command by that of `node -e 0`: 9 to 12 for a read, 24 for `show`. Half of `show` is Temporal's client,
 * which builds its messages.
 */
const MAX_RATIO = { read: 14, show: 30 } as const;

let ledger: TestLedger;
let referenceId: string;
let directory: string;
let emptySeconds: number;
beforeAll(async () => {
  directory = await mkdtemp(path.join(os.tmpdir(), 'lunas-cost-'));
  ledger = await createTestLedger();
  const terms = ledger.newTerms();
  referenceId = terms.referenceId;
  await transitionWriters.create(ledger.context, creation(terms, new Date()));
  emptySeconds = await cpuSecondsOf(['-e', '0']);
});
afterAll(async () => {
  await ledger.close();
  await rm(directory, { recursive: true });
});

const environment = () => ({
  PATH: process.env.PATH,
  LUNAS_HOME: '/nonexistent',
  DATABASE_URL: ledger.db.options.connectionString,
  TEMPORAL_ADDRESS: temporalAddress(),
  LUNAS_MASTER_KEY: Buffer.alloc(32).toString('base64'),
  MODULES_FILE: path.join(directory, 'modules.json'),
});

/** The cheapest of several runs of Node.js: what else the machine does makes a run dearer, never cheaper. */
async function cpuSecondsOf(args: readonly string[]): Promise<number> {
  const seconds: number[] = [];
  while (seconds.length < RUNS) {
    const command = ['--norc', '-c', 'TIMEFORMAT="%U %S"; time "$@" > /dev/null', 'bash', process.execPath, ...args];
    const { stderr } = await promisify(execFile)('bash', command, { env: environment() });
    const [user = NaN, system = NaN] = stderr.trim().split(' ').map(Number);
    seconds.push(user + system);
  }
  return Math.min(...seconds);
}

async function loadedFiles(args: readonly string[]): Promise<string[]> {
  const env = environment();
  await promisify(execFile)(process.execPath, ['--require', REPORT_MODULES, LUNAS, ...args], { env });
  return z.array(z.string()).parse(JSON.parse(await readFile(env.MODULES_FILE, 'utf8')));
}

const packagesOf = (files: readonly string[]) =>
  new Set(files.flatMap((file) => /\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? []));

/** What only a process that serves, or a command that talks to Temporal, needs. */
const DEAR_PACKAGES = ['@grpc/grpc-js', '@temporalio/client', '@temporalio/common', 'express', 'react', 'undici'];

it.each([
  ['payments', 'list'],
  ['refunds', 'list'],
])('lunas %s %s loads only what a read of PostgreSQL needs, and costs little more than Node.js', async (...args) => {
  const packages = packagesOf(await loadedFiles(args));
  expect(DEAR_PACKAGES.filter((name) => packages.has(name))).toEqual([]);
  expect((await cpuSecondsOf([LUNAS, ...args])) / emptySeconds).toBeLessThan(MAX_RATIO.read);
});

it('lunas payments show loads the client of Temporal beside that, and no action', async () => {
  const args = ['payments', 'show', referenceId];
  const files = await loadedFiles(args);
  expect(['undici', 'express', 'react'].filter((name) => packagesOf(files).has(name))).toEqual([]);
  expect(files.filter((file) => file.includes('/services/payments/actions/'))).toEqual([]);
  expect((await cpuSecondsOf([LUNAS, ...args])) / emptySeconds).toBeLessThan(MAX_RATIO.show);
});

it('lunas merchants list does not load the client of webhooks', async () => {
  expect(packagesOf(await loadedFiles(['merchants', 'list'])).has('undici')).toBe(false);
});
