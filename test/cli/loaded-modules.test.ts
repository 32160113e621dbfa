import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import Module from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { transitionWriters } from '../../src/db/transitions/payment-transitions';
import { LUNAS } from '../support/lunas-process';
import { createTestLedger, creation, type TestLedger } from '../support/payments';
import { temporalAddress } from '../support/temporal';

const REPORT_MODULES = path.join(__dirname, '..', 'support', 'report-modules.cjs');
let ledger: TestLedger;
let referenceId: string;
let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(path.join(os.tmpdir(), 'lunas-cost-'));
  ledger = await createTestLedger();
  const terms = ledger.newTerms();
  referenceId = terms.referenceId;
  await transitionWriters.create(ledger.context, creation(terms, new Date()));
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

async function loadedFiles(args: readonly string[]): Promise<string[]> {
  const env = environment();
  await promisify(execFile)(process.execPath, ['--require', REPORT_MODULES, LUNAS, ...args], { env });
  return z.array(z.string()).parse(JSON.parse(await readFile(env.MODULES_FILE, 'utf8')));
}

const packagesOf = (files: readonly string[]) =>
  new Set(files.flatMap((file) => /\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? []));

/* The modules that a command loads are nearly all of its CPU. */

/** What only a process that serves, or a command that talks to Temporal, needs. */
const DEAR_PACKAGES = ['@grpc/grpc-js', '@temporalio/client', '@temporalio/common', 'express', 'react', 'undici'];

it.each([
  ['payments', 'list'],
  ['refunds', 'list'],
])('lunas %s %s loads only what a read of PostgreSQL needs', async (...args) => {
  const packages = packagesOf(await loadedFiles(args));
  expect(DEAR_PACKAGES.filter((name) => packages.has(name))).toEqual([]);
});

it('lunas payments show loads the client of Temporal beside that, and no action', async () => {
  const args = ['payments', 'show', referenceId];
  const files = await loadedFiles(args);
  expect(['undici', 'express', 'react'].filter((name) => packagesOf(files).has(name))).toEqual([]);
  expect(files.filter((file) => file.includes('/services/payments/actions/'))).toEqual([]);
});

it('lunas merchants list does not load the client of webhooks', async () => {
  expect(packagesOf(await loadedFiles(['merchants', 'list'])).has('undici')).toBe(false);
});

it('lunas --help loads the module of no command', async () => {
  const files = await loadedFiles(['--help']);
  expect(files.filter((file) => file.includes('/src/cli/commands/'))).toEqual([]);
});

it('a command keeps compiled code in the directory of caches, if Node.js can', async () => {
  const env = { ...environment(), XDG_CACHE_HOME: directory };
  await promisify(execFile)(process.execPath, [LUNAS, '--help'], { env });
  expect(existsSync(path.join(directory, 'lunas', 'compiled'))).toBe('enableCompileCache' in Module);
});

it('a command works without a directory of caches that it can write', async () => {
  const env = { ...environment(), XDG_CACHE_HOME: '/dev/null' };
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [LUNAS, '--help'], { env });
  expect([stdout, stderr]).toEqual([expect.stringContaining('lunas'), '']);
});

it('lunas help payments prints what lunas payments --help prints', async () => {
  const [help, option] = await Promise.all(
    [
      ['help', 'payments'],
      ['payments', '--help'],
    ].map((args) => promisify(execFile)(LUNAS, args)),
  );
  expect(help?.stdout).toContain('show [options] <payment>');
  expect(help).toEqual(option);
});
