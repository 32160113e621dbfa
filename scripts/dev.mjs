// `npm run dev`: PostgreSQL, Temporal and the sandbox stay up. API and worker restart after a change of a source.
// The sources are compiled without type checks: `npm run check` has them. Ctrl-C stops everything.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, rm } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { watch } from 'chokidar';
import { bundleWorkflows } from './bundle-workflows.mjs';
import { compileTypeScript } from './compile-typescript.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const DIST = path.join(ROOT, 'dist');
const LUNAS = path.join(DIST, 'src', 'cli', 'lunas.js');
const SOURCES = ['src', 'workflows', 'activities'];
const MIGRATIONS = 'src/db/migrations/';
/** A branch change or a "save all" touches many files: wait until none has changed for this long. */
const QUIET_MS = 100;
/** The terminal and npm both send the signal of one Ctrl-C. */
const SAME_SIGNAL_MS = 1_000;
const INTERRUPTED = 130;

const { values } = parseArgs({ options: { 'inspect-port': { type: 'string', default: '9229' } } });
const [API, WORKER] = ['api', 'worker'].map((name, index) => ({
  name,
  inspect: `127.0.0.1:${Number(values['inspect-port']) + index}`,
  child: null,
}));

let services = null;
let stopping = null;

let firstSignalAtMs = null;

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, onStopSignal);
// However this process ends. At a second signal `lunas services` kills what it runs.
process.on('exit', () => services?.kill('SIGINT'));

await rm(DIST, { recursive: true, force: true });
await build();
const run = stopping ? null : await startServices();
if (run) {
  await Promise.all([start(API), start(WORKER)]);
  await watchSources();
  print(describe(run));
}

async function build() {
  await compileTypeScript(DIST);
  await bundleWorkflows(path.join(DIST, 'workflow-bundle.js'));
  await chmod(LUNAS, 0o755);
}

/** In a process group of its own: Ctrl-C in the terminal reaches only this process, which stops the others in order. */
function spawnLunas(args, stdio) {
  return spawn(process.execPath, ['--enable-source-maps', ...args], { cwd: ROOT, detached: true, stdio });
}

/** @returns what `lunas services --json` prints when it is ready; null if it ends before that */
async function startServices() {
  services = spawnLunas([LUNAS, 'services', '--json'], ['ignore', 'pipe', 'inherit']);
  services.once('exit', (code) => void stop(code ?? 1));
  let output = '';
  for await (const chunk of services.stdout) {
    output += chunk;
    if (output.trimEnd().endsWith('}')) return JSON.parse(output);
  }
  return null;
}

/** Resolves when the process is ready or has ended. */
async function start(service) {
  if (stopping) return;
  const startedAt = performance.now();
  const child = spawnLunas(
    [`--inspect=${service.inspect}`, '--inspect-publish-uid=http', LUNAS, service.name],
    ['ignore', 'inherit', 'inherit', 'ipc'],
  );
  service.child = child;
  child.once('exit', (code, signal) => {
    if (service.child === child)
      print(`${service.name} ended (${signal ?? `exit code ${code}`}). A change restarts it.`);
  });
  await Promise.race([once(child, 'message'), once(child, 'exit')]);
  if (isRunning(child))
    print(`${service.name} is ready after ${((performance.now() - startedAt) / 1_000).toFixed(1)} s.`);
}

async function restart(service) {
  await end(service, 'SIGTERM');
  await start(service);
}

async function end(service, signal) {
  const { child } = service;
  service.child = null;
  if (child) await endProcess(child, signal);
}

async function endProcess(child, signal) {
  if (!isRunning(child)) return;
  const exited = once(child, 'exit');
  child.kill(signal);
  await exited;
}

function isRunning(child) {
  return child.exitCode === null && child.signalCode === null;
}

async function watchSources() {
  const changed = new Set();
  let applying = Promise.resolve();
  const timer = setTimeout(() => {
    const files = [...changed];
    changed.clear();
    if (files.length > 0) applying = applying.then(() => apply(files));
  }, QUIET_MS);
  const watcher = watch(SOURCES, { cwd: ROOT, ignoreInitial: true });
  watcher.on('all', (_event, file) => {
    if (!file.endsWith('.ts') && !file.startsWith(MIGRATIONS)) return;
    changed.add(file);
    timer.refresh();
  });
  await once(watcher, 'ready');
}

/** If the sources do not compile, the processes with the previous build keep running. */
async function apply(files) {
  if (stopping) return;
  print(`Changed: ${files.join(', ')}`);
  try {
    // A deleted source leaves no module behind.
    await Promise.all(files.map((file) => rm(path.join(DIST, file.replace(/\.ts$/, '.js')), { force: true })));
    await build();
    if (files.some((file) => file.startsWith(MIGRATIONS))) await migrate();
  } catch (error) {
    // The stack below the message of a syntax error is that of the compiler.
    print(`${error.message.split('\n\nCaused by')[0]}\nNot restarted.`);
    return;
  }
  await Promise.all([restart(API), restart(WORKER)]);
}

async function migrate() {
  const [code] = await once(spawnLunas([LUNAS, 'migrate'], ['ignore', 'inherit', 'inherit']), 'exit');
  if (code !== 0) throw new Error('The migration failed.');
}

function onStopSignal() {
  firstSignalAtMs ??= performance.now();
  if (performance.now() - firstSignalAtMs > SAME_SIGNAL_MS) killAll();
  else {
    if (!stopping) print('Stopping. Press Ctrl-C again to kill all processes.');
    void stop(0);
  }
}

/** API and worker first, since they use the services. */
async function stop(exitCode) {
  stopping ??= (async () => {
    await Promise.all([end(API, 'SIGTERM'), end(WORKER, 'SIGTERM')]);
    if (services) await endProcess(services, 'SIGINT');
    process.exit(exitCode);
  })();
  await stopping;
}

function killAll() {
  for (const { child } of [API, WORKER]) child?.kill('SIGKILL');
  process.exit(INTERRUPTED);
}

function describe({ api_url, operator_url, temporal_ui_url, sandbox_url, merchant_id, secret_key }) {
  const rows = [
    ['API', api_url],
    ['Operator API', operator_url],
    ['Temporal', temporal_ui_url],
    ['Sandbox', sandbox_url],
    ['Merchant', merchant_id],
    ['Secret key', secret_key],
    ['Debug API', API.inspect],
    ['Debug worker', WORKER.inspect],
  ];
  return `
Lunas runs in watch mode: a change in ${SOURCES.join(', ')} restarts the API and the worker.

${rows.map(([name, value]) => `  ${name.padEnd(14)}${value}`).join('\n')}

To debug, open chrome://inspect or attach an editor to one of the two debug addresses (docs/debugging.md).
Ctrl-C stops everything; the data stays for the next start.`;
}

function print(text) {
  console.error(text);
}
