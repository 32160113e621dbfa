import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { freePort } from '../../src/local-stack/ports';
import { PACKAGE_ROOT } from '../../src/package-info';
import { createPooledInstallation, type PooledInstallation } from '../support/database';
import { eventually } from '../support/eventually';
import { freePorts } from '../support/lunas-process';
import { testEnvironment } from '../support/test-environment';

const COPIED = [
  'src',
  'workflows',
  'activities',
  'scripts',
  'test/faults',
  'test/support',
  'package.json',
  'package-lock.json',
];
const TIMEOUT_MS = 180_000;
const API_AND_WORKER = 2;

/** `npm run dev` on a copy of the sources. */
class WatchMode {
  output = '';
  readonly exitCode: Promise<number | null>;
  private readonly child: ChildProcess;

  constructor(
    readonly checkout: string,
    environment: NodeJS.ProcessEnv,
    inspectPort: number,
  ) {
    this.child = spawn(process.execPath, ['scripts/dev.mjs', '--inspect-port', String(inspectPort)], {
      cwd: checkout,
      env: { PATH: process.env.PATH, LUNAS_HOME: path.join(checkout, '.lunas'), ...environment },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.child.stderr?.on('data', (chunk: Buffer) => (this.output += chunk.toString()));
    this.exitCode = once(this.child, 'close').then(([code]: (number | null)[]) => code ?? null);
  }

  /** Resolves when the output contains the text so many times. */
  async prints(text: string, times = 1): Promise<void> {
    const isPrinted = (output: string) => output.split(text).length > times;
    const output = await eventually(
      async () => this.output,
      (seen) => isPrinted(seen) || this.child.exitCode !== null,
    );
    if (!isPrinted(output)) throw new Error(`npm run dev ended with exit code ${this.child.exitCode}: ${output}`);
  }

  async stop(): Promise<number | null> {
    this.child.kill('SIGINT');
    return this.exitCode;
  }
}

async function copyCheckout(): Promise<string> {
  const checkout = await mkdtemp(path.join(os.tmpdir(), 'lunas-dev-'));
  for (const source of COPIED) {
    await cp(path.join(PACKAGE_ROOT, source), path.join(checkout, source), { recursive: true });
  }
  // Not the directory itself: the copy caches its workflow bundles in a directory of its own.
  const packages = path.join(PACKAGE_ROOT, 'node_modules');
  await mkdir(path.join(checkout, 'node_modules'));
  for (const name of await readdir(packages)) {
    if (name !== '.cache') await symlink(path.join(packages, name), path.join(checkout, 'node_modules', name));
  }
  return checkout;
}

let dev: WatchMode | undefined;
let installation: PooledInstallation | undefined;

afterEach(async () => {
  await dev?.stop();
  if (dev) await rm(dev.checkout, { recursive: true });
  await installation?.drop();
}, TIMEOUT_MS);

it(
  'npm run dev restarts API and worker after a change, keeps them after a syntax error, and stops cleanly',
  async () => {
    const ports = await freePorts();
    installation = await createPooledInstallation();
    const environment = {
      ...ports,
      ...installation.variables,
      TEMPORAL_CLI_PATH: testEnvironment('TEMPORAL_CLI_PATH'),
    };
    const checkout = await copyCheckout();
    dev = new WatchMode(checkout, environment, await freePort());
    const status = async () => (await fetch(`http://127.0.0.1:${ports['PORT']}/payments/none`)).status;
    await dev.prints('Lunas runs in watch mode');
    expect(await status()).toBe(401);

    // The domain is part of the API, the worker and the workflow bundle.
    const domain = path.join(checkout, 'src', 'domain', 'payment-transitions.ts');
    await appendFile(domain, `\nconsole.error('compiled again');\n`);
    await dev.prints('compiled again', API_AND_WORKER);
    await dev.prints('worker is ready', 2);
    await dev.prints('api is ready', 2);
    expect(await status()).toBe(401);
    expect(await readFile(path.join(checkout, 'dist', 'workflow-bundle.js'), 'utf8')).toContain('compiled again');

    await writeFile(path.join(checkout, 'src', 'package.ts'), 'const = ;\n');
    await dev.prints('Not restarted.');
    expect(dev.output).toContain('src/package.ts:1:1');
    expect(await status()).toBe(401);

    expect(await dev.stop()).toBe(0);
    expect(dev.output.trimEnd()).toMatch(/Stopped\.$/);
    await expect(status()).rejects.toThrow('fetch failed');
  },
  TIMEOUT_MS,
);
