import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { PACKAGE_ROOT } from '../../src/package-info';

const SCRIPT = path.join(PACKAGE_ROOT, 'scripts', 'vulnerabilities.mjs');
const ADVISORIES = '/-/npm/v1/security/advisories/bulk';

let registry: Server | undefined;
let cache: string;
beforeEach(async () => {
  cache = await mkdtemp(path.join(os.tmpdir(), 'lunas-npm-'));
});
afterEach(async () => {
  registry?.close();
  await rm(cache, { recursive: true, force: true });
});

/** A registry that returns this for each request about advisories. */
async function startRegistry(status: number, body: unknown): Promise<string> {
  registry = createServer((request, response) => {
    request.resume();
    response.writeHead(request.url === ADVISORIES ? status : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(request.url === ADVISORIES ? body : {}));
  });
  registry.listen(0, '127.0.0.1');
  await once(registry, 'listening');
  const address = registry.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
}

/** The advisory of a package that is in the lock file. */
const advisory = (severity: string) => ({
  pg: [{ id: 1, url: 'https://example.com/GHSA-1', title: 'A leak', severity, vulnerable_versions: '*', cwe: [] }],
});

async function check(registryUrl: string, environment: NodeJS.ProcessEnv = {}) {
  const child = spawn(process.execPath, [SCRIPT], {
    // npm keeps what it has found of an advisory.
    env: { ...process.env, ...environment, npm_config_registry: registryUrl, npm_config_cache: cache },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
  const [exitCode] = await once(child, 'close');
  return { exitCode, lines: output.trim().split('\n') };
}

describe('npm run vulnerabilities', () => {
  it('passes if the registry has none', async () => {
    const { exitCode, lines } = await check(await startRegistry(200, {}));
    expect(exitCode).toBe(0);
    expect(lines[0]).toBe('.: 0 packages with high or critical vulnerabilities, 0 with others');
  });

  it.each(['high', 'critical'])('fails if one is %s, and prints its package and its address', async (severity) => {
    const { exitCode, lines } = await check(await startRegistry(200, advisory(severity)));
    expect(exitCode).toBe(1);
    expect(lines.join('\n')).toContain(`  pg: ${severity} (A leak, https://example.com/GHSA-1`);
  });

  it('passes if all are moderate, and counts them', async () => {
    const { exitCode, lines } = await check(await startRegistry(200, advisory('moderate')));
    expect(exitCode).toBe(0);
    expect(lines[0]).toMatch(/^\.: 0 packages with high or critical vulnerabilities, [1-9]\d* with others$/);
  });

  it.each([405, 404, 500])('passes with one line if the registry returns %i', async (status) => {
    const { exitCode, lines } = await check(await startRegistry(status, {}));
    expect([exitCode, lines]).toEqual([0, [expect.stringMatching(/^Known vulnerabilities: NOT CHECKED.*\d{3}/)]]);
  });

  it('passes with one line if the registry does not respond', async () => {
    const { exitCode, lines } = await check('http://127.0.0.1:1');
    expect([exitCode, lines]).toEqual([
      0,
      [expect.stringMatching(/^Known vulnerabilities: NOT CHECKED in 3 of 3 lock files: /)],
    ]);
  });

  it('fails without a report if it is required', async () => {
    const { exitCode, lines } = await check('http://127.0.0.1:1', { VULNERABILITIES: 'required' });
    expect([exitCode, lines]).toEqual([1, [expect.stringMatching(/^Known vulnerabilities: NOT CHECKED/)]]);
  });
});
