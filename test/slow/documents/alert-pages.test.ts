import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { createPool, type Pool } from '../../../src/db/connection/pool';
import type { RunFile } from '../../../src/local-stack/run-file';
import { PACKAGE_ROOT } from '../../../src/package-info';
import type { Outcome } from '../../cli/run-lunas';
import { eventually } from '../../support/eventually';
import { freePorts, LUNAS, LunasProcess, runBuiltLunas } from '../../support/lunas-process';
import { startReceiver, type Receiver } from '../../support/receiver';
import { testEnvironment } from '../../support/test-environment';

/** Runs every command of the pages of alerts as it is written, in a shell, in the case that the page is about. */

const TIMEOUT_MS = 300_000;
const DOCUMENTS = path.join(PACKAGE_ROOT, 'docs');
const PAGES = ['operations/alerts.md', 'operations/payouts.md'] as const;
/** To which the page of all alerts leads. */
const SECTIONS = ['Late payments and exceptions', 'Dead webhook deliveries', 'Verifying the ledger'] as const;

/** Names of commands in a sentence, without their arguments. */
const NAMES = new Set([
  'lunas accounts disable',
  'lunas accounts set-key',
  'lunas bank-accounts verify',
  'lunas exceptions resolve',
  'lunas payments show',
  'lunas payouts approve',
  'lunas payouts cancel',
  'lunas payouts resend',
  'lunas payouts show',
]);

/** A variable with the number of a bank account whose payouts the sandbox's bank never receives. */
const NUMBERS = { NEVER_FOUND: '9900000041' } as const;

interface CommandLine {
  /** The file of a page, or the title of a section. */
  readonly page: string;
  readonly line: string;
}

let directory: string;
let home: string;
let lunas: LunasProcess;
let run: RunFile;
let db: Pool;
let receiver: Receiver;
let environment: NodeJS.ProcessEnv;
/** What an operator inserts for the words in capitals, by page. */
let inserted: Readonly<Record<string, Readonly<Record<string, string>>>>;

beforeAll(async () => {
  directory = await mkdtemp(path.join(os.tmpdir(), 'lunas-alerts-'));
  home = path.join(directory, 'home');
  await mkdir(path.join(directory, 'bin'));
  await symlink(LUNAS, path.join(directory, 'bin', 'lunas'));
  await symlink(testEnvironment('TEMPORAL_CLI_PATH'), path.join(directory, 'bin', 'temporal'));
  environment = {
    HOME: directory,
    PATH: `${directory}/bin:${process.env.PATH}`,
    LUNAS_HOME: home,
    REFUND_HOLD_SECONDS: '1',
    ...NUMBERS,
    ...(await freePorts()),
  };
  lunas = new LunasProcess('up', home, environment);
  run = await lunas.ready();
  db = createPool(await ownerUrl(), { max: 2 });
  receiver = await startReceiver();
  inserted = await makeCases();
}, TIMEOUT_MS);

afterAll(async () => {
  await Promise.all([db.end(), receiver.close()]);
  await lunas.stop();
  await rm(directory, { recursive: true });
}, TIMEOUT_MS);

/** Runs a command and reads its document. */
async function read<T>(schema: z.ZodType<T>, ...args: readonly string[]): Promise<T> {
  const { exitCode, stdout, stderr } = await runBuiltLunas([...args, '--json'], environment);
  expect({ args, exitCode, stderr }).toEqual({ args, exitCode: 0, stderr: '' });
  return schema.parse(JSON.parse(stdout));
}

const paymentSchema = z.object({ payment: z.object({ id: z.string(), reference_id: z.string() }) });
const endpointSchema = z.object({ endpoint: z.object({ id: z.string() }) });
const deliveriesSchema = z.object({ deliveries: z.array(z.object({ id: z.string() })) });
const payoutSchema = z.object({ payout: z.object({ reference_id: z.string(), status: z.string() }) });
const bankAccountSchema = z.object({
  bank_account: z.object({ status: z.string(), holder_name: z.string().nullable() }),
});

/** The cases that the pages are about, each with its payment, payout, endpoint, exception or line in a log. */
async function makeCases(): Promise<typeof inserted> {
  const manual = ['--settlement', 'manual', '--settlement-delay', '10s'];
  await read(z.unknown(), 'catalog', 'set', '--provider', 'shopeepay', '--channel', 'qris', ...manual);
  const { payment: waiting } = await read(paymentSchema, 'trigger', 'payment.paid', '--provider', 'shopeepay');
  const endpointId = await makeDeadDelivery();
  const { sent, accountId } = await makePayout();
  await makeErrors(waiting.id);
  const { audit } = await read(z.object({ audit: z.object({ head: z.string() }) }), 'audit', 'verify');
  return {
    'operations/alerts.md': { HEAD: audit.head },
    'operations/payouts.md': { REFERENCE_ID: sent, ACCOUNT_ID: accountId },
    'Dead webhook deliveries': { ENDPOINT_ID: endpointId, 'url URL': `url ${receiver.url}` },
  };
}

interface MadePayout {
  /** The reference of a payout that the bank never gives a status of. */
  readonly sent: string;
  readonly accountId: string;
}

async function makePayout(): Promise<MadePayout> {
  const note = ['--note', 'a case of the alert pages'];
  await read(z.unknown(), 'payouts', 'set-limit', '--cooldown', '0s');
  const { id, holderName } = await proposeBankAccount();
  await read(z.unknown(), 'bank-accounts', 'approve', id, '--confirm-name', holderName, ...note);
  const sent = await requestPayout();
  await read(payoutSchema, 'payouts', 'approve', sent, ...note);
  await eventually(
    () => read(payoutSchema, 'payouts', 'show', sent),
    ({ payout }) => payout.status === 'submitted',
  );
  return { sent, accountId: id };
}

/** @returns its reference. It pays a settled payment. */
async function requestPayout(): Promise<string> {
  await read(z.unknown(), 'trigger', 'payment.settled');
  return (await read(payoutSchema, 'payouts', 'create', '--merchant', run.merchant_id)).payout.reference_id;
}

/** @returns its id, and the name that the bank has given */
async function proposeBankAccount(): Promise<{ readonly id: string; readonly holderName: string }> {
  const { account_id: id } = await read(
    z.object({ account_id: z.string() }),
    'bank-accounts',
    'add',
    '--merchant',
    run.merchant_id,
    '--bank',
    '014',
    '--number-env',
    'NEVER_FOUND',
  );
  const { bank_account: account } = await eventually(
    () => read(bankAccountSchema, 'bank-accounts', 'show', id),
    ({ bank_account: { status } }) => status === 'pending_approval',
  );
  return { id, holderName: account.holder_name ?? '' };
}

/** @returns the endpoint, whose receiver works again */
async function makeDeadDelivery(): Promise<string> {
  const { respond } = receiver;
  receiver.respond = (response) => response.writeHead(410).end();
  const { endpoint } = await read(
    endpointSchema,
    'webhooks',
    'create',
    '--merchant',
    run.merchant_id,
    '--url',
    receiver.url,
  );
  await read(paymentSchema, 'trigger', 'payment.pending');
  await eventually(
    () => read(deliveriesSchema, 'webhooks', 'deliveries', '--status', 'dead'),
    ({ deliveries }) => deliveries.length > 0,
  );
  receiver.respond = respond;
  return endpoint.id;
}

/** Only the owner of the tables may lock them. */
async function ownerUrl(): Promise<string> {
  const url = new URL(run.database_url);
  url.username = 'lunas';
  url.password = (await readFile(path.join(home, 'postgres', 'password'), 'utf8')).trim();
  return url.href;
}

/** Locks tables until requests and the relay have failed, then exceeds the limit of requests without a valid key. */
async function makeErrors(paymentId: string): Promise<void> {
  const client = await db.connect();
  try {
    await client.query('begin; lock table payments, webhook_deliveries in access exclusive mode');
    await eventually(
      () => get(`/payments/${paymentId}`),
      (status) => status === 500,
    );
    await eventually(
      () => logOf('worker'),
      (text) => text.includes('webhook claim failed'),
    );
  } finally {
    await client.query('rollback');
    client.release();
  }
  await eventually(
    () => get(`/payments/${paymentId}`),
    (status) => status === 200,
  );
  await eventually(
    () => get('/transactions', 'sk_test_unknown'),
    (status) => status === 429,
  );
}

async function get(target: string, key = run.secret_key): Promise<number> {
  const response = await fetch(`${run.api_url}${target}`, { headers: { authorization: `Bearer ${key}` } });
  await response.text();
  return response.status;
}

const logOf = (name: string) => readFile(path.join(home, 'logs', `${name}.log`), 'utf8');

async function readCommandLines(): Promise<CommandLine[]> {
  const readDocument = (name: string) => readFile(path.join(DOCUMENTS, name), 'utf8');
  const operators = (await readDocument('operators.md')).split(/^(?=##)/m);
  const sections = SECTIONS.map((page) => ({ page, text: operators.find((text) => text.startsWith(`## ${page}\n`)) }));
  const pages = await Promise.all(PAGES.map(async (page) => ({ page, text: await readDocument(page) })));
  return [...pages, ...sections].flatMap(({ page, text }) => commandsIn(text ?? '').map((line) => ({ page, line })));
}

/** In the order of the page. There is no cluster here. */
function commandsIn(text: string): string[] {
  const found = [...text.matchAll(/^ *```\n(?<block>[^`]+)```$|`(?<prose>(?:lunas|temporal) [^`]+)`/gm)];
  return found
    .flatMap(({ groups }) => (groups?.['prose'] ?? groups?.['block'] ?? '').split('\n'))
    .map((line) => line.trim())
    .filter((line) => line !== '' && !NAMES.has(line) && !line.startsWith('kubectl '));
}

function insert({ page, line }: CommandLine): string {
  return Object.entries(inserted[page] ?? {}).reduce((text, [word, value]) => text.replace(word, value), line);
}

/** In a shell, in the directory with the logs. */
function runInShell(line: string): Promise<Outcome> {
  const own = line.startsWith('lunas ')
    ? {}
    : { DATABASE_URL: run.database_url, TEMPORAL_ADDRESS: run.temporal_address };
  const options = { cwd: path.join(home, 'logs'), env: { ...environment, ...own }, timeout: 60_000 };
  return promisify(execFile)('bash', ['-o', 'pipefail', '-c', line], options).then(
    ({ stdout, stderr }) => ({ exitCode: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ exitCode: code, stdout, stderr }),
  );
}

/** The list of the cases that the pages are about ends with 1. */
function hasSucceeded(line: string, { exitCode, stderr }: Outcome): boolean {
  return exitCode === 0 || (line === 'lunas attention' && /^error: \d+ rows? needs? a person\.\n$/.test(stderr));
}

it(
  'each command succeeds as it is written',
  async () => {
    const commandLines = await readCommandLines();
    expect(commandLines.length).toBeGreaterThan(35);
    const failed: (CommandLine & Outcome)[] = [];
    for (const commandLine of commandLines) {
      const line = insert(commandLine);
      const result = await runInShell(line);
      if (!hasSucceeded(line, result)) failed.push({ ...commandLine, ...result });
    }
    expect(failed).toEqual([]);
    expect(receiver.received.map(({ body }) => body['event'])).toContain('ping');
  },
  TIMEOUT_MS,
);
