// Creates the images of docs/operations/images again. It starts a local stack with two versions of workers, of which
// the second has a planted fault in its workflow code, and takes screenshots of the Temporal Web UI in Chromium.
// Needs `npm run build` and scripts/install-test-tools.sh.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const IMAGES = path.join(ROOT, 'docs', 'operations', 'images');
/** Tall enough for the history of a payment without scrolling. */
const VIEWPORT = { width: 960, height: 2_000 };
const SIDEBAR = 64;
const TOP_BAR = 60;
const MARGIN = 16;
const WIDTH = VIEWPORT.width - SIDEBAR;
const HEIGHT = 410;
const SETTLE_MS = 3_000;
const ATTEMPTS = 60;
const COLUMNS = ['Status', 'ReferenceId', 'PaymentStatus', 'NeedsAttention'].map((label) => ({ label }));
/** The code of the workflow that waits for the customer, and what replaces it. */
const WAIT = "summary: 'the QR code expires'";
const FAULT = "summary: (() => { throw new Error('planted fault'); })()";
const STACK_PORTS = ['CODEC_PORT', 'TEMPORAL_PORT', 'TEMPORAL_UI_PORT', 'POSTGRES_PORT'];
const PORTS = ['PORT', 'OPERATOR_PORT', 'DASHBOARD_PORT', ...STACK_PORTS];

const text = (part) => (page) => page.getByText(part).first();
const firstRow = (page) => page.locator('tbody tr').first();
const events = text('Event History');

const home = await mkdtemp(path.join(os.tmpdir(), 'lunas-screenshots-'));
const ports = await Promise.all([...PORTS, 'SANDBOX_PORT'].map(async (name) => [name, String(await freePort())]));
const environment = { ...process.env, ...Object.fromEntries(ports), LUNAS_HOME: path.join(home, 'data') };
const processes = [];
try {
  await takeAll();
} finally {
  for (const running of processes.toReversed()) {
    if (running.exitCode === null && running.kill('SIGTERM')) await once(running, 'exit');
  }
  await rm(home, { recursive: true, force: true });
}

async function takeAll() {
  const stack = await startStack();
  await lunas('temporal', 'use-version', '1');
  for (let count = 0; count < 4; count += 1) await create(stack);
  const waiting = await create(stack);
  await startFaultyWorker();
  await lunas('temporal', 'use-version', '2');
  await create(stack);
  const pages = `${stack.temporal_ui_url}/namespaces/default`;
  const [poison, good] = await Promise.all([runOf(stack), runOf(stack, waiting.id)]);
  const open = encodeURIComponent('`WorkflowType`="payment" AND `ExecutionStatus`="Running"');
  const toQueue = `${pages}/task-queues/lunas-payments`;
  await withBrowser(async (take) => {
    await take('open-payments', `${pages}/workflows?query=${open}`, { find: firstRow, height: 390 });
    await take('waiting-payment', `${pages}/workflows/${good}/history`, {
      find: events,
      fromElement: true,
      height: 290,
    });
    await take('poison-workflow', `${pages}/workflows/${poison}/history`, {
      find: events,
      fromElement: true,
      height: 540,
    });
    await take('versions', `${pages}/worker-deployments/lunas`, { find: text('Draining') });
    await take('task-queue', toQueue, { find: text('Workers') });
  });
}

async function startStack() {
  const args = [path.join(ROOT, 'dist/src/cli/lunas.js'), 'up', '--json'];
  const env = { ...environment, TEMPORAL_WORKER_BUILD_ID: '1' };
  const up = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  processes.push(up);
  await once(up.stdout, 'data');
  return JSON.parse(await readFile(path.join(environment.LUNAS_HOME, 'run.json'), 'utf8'));
}

/** A copy of the build, with the fault. */
async function startFaultyWorker() {
  const copy = path.join(home, 'faulty');
  await cp(path.join(ROOT, 'dist'), path.join(copy, 'dist'), { recursive: true });
  await cp(path.join(ROOT, 'package.json'), path.join(copy, 'package.json'));
  await symlink(path.join(ROOT, 'node_modules'), path.join(copy, 'node_modules'));
  const bundle = path.join(copy, 'dist', 'workflow-bundle.js');
  const code = await readFile(bundle, 'utf8');
  if (!code.includes(WAIT)) throw new Error(`The workflow bundle does not contain ${WAIT}`);
  await writeFile(bundle, code.replace(WAIT, FAULT));
  const env = { ...environment, TEMPORAL_WORKER_BUILD_ID: '2' };
  processes.push(
    spawn(process.execPath, [path.join(copy, 'dist/src/cli/lunas.js'), 'worker'], { env, stdio: 'ignore' }),
  );
}

/** Runs the command until it succeeds: a version can be used as soon as its workers poll. */
async function lunas(...args) {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const command = spawn(process.execPath, [path.join(ROOT, 'dist/src/cli/lunas.js'), ...args], {
      env: environment,
      stdio: 'ignore',
    });
    const [code] = await once(command, 'exit');
    if (code === 0) return;
    await delay(500);
  }
  throw new Error(`lunas ${args.join(' ')} failed`);
}

/** A payment of the faulty version is created with status 500. */
async function create({ api_url, secret_key }) {
  const response = await fetch(`${api_url}/payments`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${secret_key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ amount: 50_000, merchant_reference_id: `ORDER-${Date.now()}` }),
  });
  return (await response.json()).payment;
}

/** `<workflow id>/<run id>` of a payment; without an id, of the newest. */
async function runOf({ temporal_ui_url }, paymentId) {
  const query = encodeURIComponent(paymentId ? `WorkflowId = 'payment-${paymentId}'` : "WorkflowType = 'payment'");
  const response = await fetch(`${temporal_ui_url}/api/v1/namespaces/default/workflows?query=${query}`);
  const [{ execution }] = (await response.json()).executions;
  return `${execution.workflowId}/${execution.runId}`;
}

async function withBrowser(run) {
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium-headless-shell', args: ['--no-sandbox'] });
  const page = await browser.newPage({ viewport: VIEWPORT, colorScheme: 'light' });
  await page.addInitScript((columns) => {
    localStorage.setItem('namespace-workflow-table-columns', JSON.stringify({ default: columns }));
  }, COLUMNS);
  try {
    await run(async (name, url, { find, height = HEIGHT, fromElement = false }) => {
      await page.goto(url, { waitUntil: 'load' });
      const element = find(page);
      await element.waitFor();
      // The Web UI loads summaries, pollers and fonts after the page.
      await delay(SETTLE_MS);
      const { y } = await element.boundingBox();
      const clip = { x: SIDEBAR, y: fromElement ? y - MARGIN : TOP_BAR, width: WIDTH, height };
      await page.screenshot({ path: path.join(IMAGES, `${name}.png`), clip, animations: 'disabled' });
      console.error(`✓ ${name}.png`);
    });
  } finally {
    await browser.close();
  }
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}
