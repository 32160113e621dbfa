import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { z } from 'zod';
import { PACKAGE_ROOT } from '../../../src/package-info';
import { bySize, describeInFullSize } from '../../support/size';

/**
 * Parts of the benchmark that are seldom run must work when they are needed. A rule of the service, such as that of
 * overload, can break them. The figures are not looked at. In a clone, because the benchmark builds.
 */

const directory = mkdtempSync(path.join(os.tmpdir(), 'lunas-bench-test-'));
const clone = path.join(directory, 'lunas');

beforeAll(() => {
  execFileSync('git', ['clone', '--quiet', PACKAGE_ROOT, clone]);
  symlinkSync(path.join(PACKAGE_ROOT, 'node_modules'), path.join(clone, 'node_modules'));
});

afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** @returns what the part wrote to its file */
function measure(part: string, size = ['--quick']): unknown {
  execFileSync('npm', ['run', '--silent', 'bench', '--', ...size, '--only', part], { cwd: clone, stdio: 'pipe' });
  return JSON.parse(readFileSync(path.join(clone, 'bench', 'results', `${part}.json`), 'utf8'));
}

const positive = z.number().positive();
const times = z.object({ p50Ms: positive, p99Ms: positive });
const parts = z.array(z.object({ where: z.string(), ms: positive })).min(2);

/** What each part has. */
const RESULTS = {
  latency: z.object({
    latency: z.object({ noop: times, create: times, paidToWebhook: times }),
  }),
  profile: z.object({
    profile: z
      .array(z.object({ benchmark: z.string(), process: z.string(), totalMs: positive, parts }))
      .transform((found) => found.map(({ benchmark, process }) => `${benchmark} ${process}`))
      .pipe(
        z.tuple([
          z.literal('create api'),
          z.literal('create worker'),
          z.literal('get api'),
          z.literal('replay api'),
          z.literal('lifecycle api'),
          z.literal('lifecycle worker'),
          z.literal('deliver worker'),
        ]),
      ),
  }),
  storage: z.object({
    storage: z.object({ tablesKb: z.object({ payments: positive }), walKb: positive, temporalKb: positive }),
  }),
} as const;

/** The profile has the most benchmarks. */
const PARTS: readonly (keyof typeof RESULTS)[] = bySize({
  small: ['profile'],
  full: ['latency', 'profile', 'storage'],
});

it.each(PARTS)('--only %s has its results', (part) => {
  expect(() => RESULTS[part].parse(measure(part))).not.toThrow();
});

/** A leak of 12 kB for each call to a provider made it 1.2. */
const MAX_GROWTH = 1.1;
const figures = z.object({ middle: positive, last: positive });
const memorySchema = z.object({
  memory: z.object({ api: figures, worker: figures, dashboard: figures, temporal: figures }),
});

describeInFullSize('an hour of load', () => {
  it('the memory of API, worker, dashboard and Temporal reaches a plateau', () => {
    const { memory } = memorySchema.parse(measure('memory', []));
    const growing = Object.entries(memory).filter(([, { middle, last }]) => last > middle * MAX_GROWTH);
    expect(growing).toEqual([]);
  });
});
