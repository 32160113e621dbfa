import { execFile, execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { buildDocument } from '../../../src/api/openapi/document';
import { PACKAGE_ROOT } from '../../../src/package-info';
import { MERCHANT_ENDPOINTS } from '../../../src/servers/api-routes';
import { setPolicy } from '../../../src/services/provider-accounts/catalog';
import { eventually } from '../../support/eventually';
import { newNamespace, startTestService, type TestService } from '../../support/service';

/**
 * The collections of examples/collections, generated from the OpenAPI document by the published tools, and run against
 * the service. `UPDATE_COLLECTIONS=1` writes them.
 */

const TIMEOUT_MS = 600_000;
const RUN_TIMEOUT_MS = 60_000;
const TOOLS = ['openapi-to-postmanv2@6.3.3', 'newman@6.2.2', '@usebruno/cli@4.1.0'];
const COLLECTIONS = path.join(PACKAGE_ROOT, 'examples', 'collections');
const BASE_URL = 'http://localhost:3000';
const PAYMENT_ID = '{{payment_id}}';
const LINK_ID = '{{payment_link_id}}';
const REFUND = 'Refund a transaction';

const run = promisify(execFile);
const directory = mkdtempSync(path.join(os.tmpdir(), 'lunas-collections-'));
const tool = (name: string) => path.join(directory, 'node_modules', '.bin', name);

let service: TestService;
beforeAll(async () => {
  writeFileSync(path.join(directory, 'package.json'), '{"private": true}');
  execFileSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel', 'error', ...TOOLS], {
    cwd: directory,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  writeFileSync(path.join(directory, 'openapi.json'), JSON.stringify(sourceDocument()));
  service = await startTestService(await newNamespace());
  // The tools start for longer than the ten seconds until a settlement, after which there is no refund.
  await setPolicy(service.db, { provider: 'gopay', channel: 'qris', settlementDelaySeconds: 3_600 });
}, TIMEOUT_MS);
afterAll(async () => {
  await service.close();
  rmSync(directory, { recursive: true, force: true });
});

/** The document with one example for each body, and with the ids of variables: the tools copy both. */
function sourceDocument(): unknown {
  const document: unknown = JSON.parse(JSON.stringify(buildDocument(MERCHANT_ENDPOINTS)), (key, value: unknown) => {
    if (!isRecord(value)) return value;
    if (key.startsWith('/payment-links/')) {
      const ofLink: unknown = JSON.parse(JSON.stringify(value).replaceAll(PAYMENT_ID, LINK_ID));
      return ofLink;
    }
    if (value['in'] === 'path') return { ...value, example: PAYMENT_ID };
    const { examples, ...others } = value;
    const [first] = isRecord(examples) ? Object.values(examples) : [];
    return isRecord(first) && 'value' in first ? { ...others, example: first['value'] } : value;
  });
  return { ...recordSchema.parse(document), servers: [{ url: BASE_URL }], webhooks: {} };
}

const recordSchema = z.record(z.string(), z.unknown());

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const postmanSchema = z.looseObject({ info: recordSchema, item: z.array(recordSchema), variable: z.unknown() });

/** Postman's format, without the ids and the random values of the converter. */
async function postmanCollection(): Promise<string> {
  const file = path.join(directory, 'postman.json');
  const options = 'folderStrategy=Tags,parametersResolution=Example,disableOptionalParameters=true';
  await run(tool('openapi2postmanv2'), ['-s', path.join(directory, 'openapi.json'), '-o', file, '-O', options]);
  const { info, ...rest } = postmanSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  const { _postman_id: _, ...about } = info;
  const collection = {
    info: about,
    ...rest,
    event: [{ listen: 'test', script: { type: 'text/javascript', exec: POSTMAN_SCRIPT } }],
    variable: ['baseUrl', 'bearerToken', 'payment_id', 'payment_link_id'].map((key) => ({
      key,
      value: key === 'baseUrl' ? BASE_URL : '',
    })),
  };
  const json = JSON.stringify(collection, (key, value: unknown) => {
    if (key === 'id' || key === 'response') return undefined;
    if (key === 'query') return parametersSchema.parse(value).map(withoutValue);
    if (key !== 'header') return value;
    return parametersSchema.parse(value).map((header) => ('description' in header ? withoutValue(header) : header));
  });
  return `${JSON.stringify(JSON.parse(json), null, 2)}\n`;
}

const parametersSchema = z.array(recordSchema);

/** An optional parameter: the user gives it a value and enables it. */
const withoutValue = (parameter: Record<string, unknown>) => ({ ...parameter, value: '', disabled: true });

/** The next requests are about the payment, and the link, that was created last. */
const POSTMAN_SCRIPT = [
  'if (pm.response.code === 201) {',
  '  const { payment, payment_link } = pm.response.json();',
  "  if (payment) pm.collectionVariables.set('payment_id', payment.id);",
  "  if (payment_link) pm.collectionVariables.set('payment_link_id', payment_link.id);",
  '}',
];
const BRUNO_SCRIPT = `
script:post-response {
  if (res.getStatus() === 201) {
    const { payment, payment_link } = res.getBody();
    if (payment) bru.setVar("payment_id", payment.id);
    if (payment_link) bru.setVar("payment_link_id", payment_link.id);
  }
}
`;
const BRUNO_ENVIRONMENT = `vars {
  baseUrl: ${BASE_URL}
}
vars:secret [
  token
]
`;

/** The files of a Bruno collection, by their path. */
async function brunoCollection(): Promise<Record<string, string>> {
  const output = path.join(directory, 'bruno');
  mkdirSync(output);
  const source = path.join(directory, 'openapi.json');
  await run(tool('bru'), [
    'import',
    'openapi',
    '-s',
    source,
    '-o',
    output,
    '-n',
    'Lunas',
    '--collection-format',
    'bru',
  ]);
  const files = filesOf(path.join(output, 'Lunas'));
  const named = Object.entries(files).filter(([name]) => !name.startsWith('environments/'));
  const collection = `${files['collection.bru'] ?? ''}${BRUNO_SCRIPT}`;
  return {
    ...Object.fromEntries(named),
    'collection.bru': collection,
    'environments/local.bru': BRUNO_ENVIRONMENT,
  };
}

function filesOf(root: string): Record<string, string> {
  const entries = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(
    entries
      .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)))
      .toSorted()
      .map((name) => [name, readFileSync(path.join(root, name), 'utf8')]),
  );
}

async function generated(): Promise<Record<string, string>> {
  const bruno = Object.entries(await brunoCollection()).map(([name, text]) => [`bruno/${name}`, text] as const);
  return { ...Object.fromEntries(bruno), 'postman.json': await postmanCollection() };
}

it(
  'the collections are what the tools make of the document',
  async () => {
    const expected = await generated();
    if (process.env['UPDATE_COLLECTIONS'] !== undefined) writeCollections(expected);
    expect(filesOf(COLLECTIONS)).toEqual(expected);
  },
  TIMEOUT_MS,
);

function writeCollections(files: Readonly<Record<string, string>>): void {
  rmSync(COLLECTIONS, { recursive: true, force: true });
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(COLLECTIONS, name)), { recursive: true });
    writeFileSync(path.join(COLLECTIONS, name), text);
  }
}

/** The statuses of a run: a payment is created, shown and cancelled, and what is final rejects the rest. */
const OF_PAYMENT = [201, 200, 200, 200, 400, 400, 200];
/** A link is made, listed, shown and closed. */
const OF_LINK = [201, 200, 200, 200];

async function createPaid(): Promise<string> {
  const { id, reference_id: referenceId } = (await service.call('POST', '/payments', { amount: 50_000 })).body.payment;
  await service.pay(referenceId);
  await eventually(
    async () => (await service.call('GET', `/payments/${id}`)).body.payment.status,
    (status) => status === 'paid',
  );
  return id;
}

describe('Postman', () => {
  const newmanSchema = z.object({
    run: z.object({ executions: z.array(z.object({ response: z.object({ code: z.number() }) })) }),
  });

  async function statusesOf(...args: readonly string[]): Promise<number[]> {
    const report = path.join(directory, 'newman.json');
    const variables = { baseUrl: service.apiUrl, bearerToken: service.secretKey };
    const given = Object.entries(variables).flatMap(([name, value]) => ['--env-var', `${name}=${value}`]);
    const reporter = ['--reporters', 'json', '--reporter-json-export', report];
    const collection = path.join(COLLECTIONS, 'postman.json');
    await run(tool('newman'), ['run', collection, ...given, ...reporter, ...args], { timeout: RUN_TIMEOUT_MS });
    const { executions } = newmanSchema.parse(JSON.parse(readFileSync(report, 'utf8'))).run;
    return executions.map(({ response }) => response.code);
  }

  it('runs each request', async () => {
    expect(await statusesOf()).toEqual([...OF_PAYMENT, ...OF_LINK]);
  });

  it('refunds a paid payment', async () => {
    expect(await statusesOf('--folder', REFUND, '--env-var', `payment_id=${await createPaid()}`)).toEqual([200]);
  });
});

describe('Bruno', () => {
  const brunoSchema = z.array(z.object({ results: z.array(z.object({ response: z.object({ status: z.number() }) })) }));

  async function statusesOf(...args: readonly string[]): Promise<number[]> {
    const copy = mkdtempSync(path.join(directory, 'run-'));
    cpSync(path.join(COLLECTIONS, 'bruno'), copy, { recursive: true });
    const variables = { baseUrl: service.apiUrl, token: service.secretKey };
    const given = Object.entries(variables).flatMap(([name, value]) => ['--env-var', `${name}=${value}`]);
    const report = path.join(copy, 'report.json');
    const options = ['--env', 'local', ...given, '--reporter-json', report, ...args];
    await run(tool('bru'), ['run', ...options], { cwd: copy, timeout: RUN_TIMEOUT_MS });
    const results = brunoSchema.parse(JSON.parse(readFileSync(report, 'utf8'))).flatMap(({ results }) => results);
    return results.map(({ response }) => response.status);
  }

  it('runs each request', async () => {
    expect(await statusesOf('-r')).toEqual([...OF_LINK, ...OF_PAYMENT]);
  });

  it('refunds a paid payment', async () => {
    const file = path.join('Transactions', `${REFUND}.bru`);
    expect(await statusesOf(file, '--env-var', `payment_id=${await createPaid()}`)).toEqual([200]);
  });
});
