import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { z } from 'zod';
import { PACKAGE_ROOT } from '../../../src/package-info';

/**
 * Parts of the benchmark that are seldom run must work when they are needed. A rule of the service, such as that of
 * overload, can break them. The figures are not looked at. In a clone, because `npm run bench` builds, here once.
 */

const directory = mkdtempSync(path.join(os.tmpdir(), 'lunas-bench-test-'));
const clone = path.join(directory, 'lunas');

beforeAll(() => {
  execFileSync('git', ['clone', '--quiet', PACKAGE_ROOT, clone]);
  symlinkSync(path.join(PACKAGE_ROOT, 'node_modules'), path.join(clone, 'node_modules'));
  execFileSync('npm', ['run', '--silent', 'bench', '--', '--help'], { cwd: clone, stdio: 'pipe' });
});

afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** @returns what the part wrote to its file */
function measure(part: string): unknown {
  const built = path.join('dist', 'bench', 'main.js');
  execFileSync(process.execPath, [built, '--quick', '--only', part], { cwd: clone, stdio: 'pipe' });
  return JSON.parse(readFileSync(path.join(clone, 'bench', 'results', `${part}.json`), 'utf8'));
}

const positive = z.number().positive();

it('--only latency has the time of each operation', () => {
  const times = z.object({ p50Ms: positive, p99Ms: positive });
  const operations = z.object({ noop: times, create: times, dbosCreate: times, paidToWebhook: times });
  expect(() => z.object({ latency: operations }).parse(measure('latency'))).not.toThrow();
});

it('--only profile has the parts of the processes that work for each operation', () => {
  const parts = z.array(z.object({ where: z.string(), ms: positive })).min(2);
  const profile = z.array(z.object({ benchmark: z.string(), process: z.string(), totalMs: positive, parts }));
  const found = z.object({ profile }).parse(measure('profile')).profile;
  expect(found.map(({ benchmark, process }) => `${benchmark} ${process}`)).toEqual([
    'create api',
    'create worker',
    'get api',
    'replay api',
    'lifecycle api',
    'lifecycle worker',
    'deliver worker',
  ]);
});

it('--only storage has the size of a payment', () => {
  const storage = z.object({ tablesKb: z.object({ payments: positive }), walKb: positive, temporalKb: positive });
  expect(() => z.object({ storage }).parse(measure('storage'))).not.toThrow();
});
