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
const SANDBOX_URL = 'http://localhost:3001';
const CREATE = 'Create one transaction, or up to 50';
const CREATE_ANOTHER = 'Create another transaction';
const PAY = 'Pay in the sandbox';
/** The requests about transactions in an order in which each succeeds. The second transaction is cancelled. */
const TRANSACTIONS = [
  CREATE,
  'Read a transaction',
  'Read the QR of a transaction',
  PAY,
  'Refund a transaction',
  'Cancel a transaction',
  CREATE_ANOTHER,
  'Cancel at /transactions',
  'List transactions',
];
/** The description of the request that is not of the API. */
const PAY_DOCS = 'Pays as a customer. Only the sandbox has this request; its script waits until the payment is paid.';

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
  const [transactions, ...others] = rest.item;
  const collection = {
    info: about,
    ...rest,
    item: [inOrder(transactions), ...others],
    event: [{ listen: 'test', script: { type: 'text/javascript', exec: POSTMAN_SCRIPT } }],
    variable: Object.entries(POSTMAN_VARIABLES).map(([key, value]) => ({ key, value })),
  };
  const json = JSON.stringify(collection, (key, value: unknown) => {
    if (key === 'id' || key === 'response') return undefined;
    if (key === 'query') return parametersSchema.parse(value).map(withoutValue);
    if (key !== 'header') return value;
    return parametersSchema.parse(value).map((header) => ('description' in header ? withoutValue(header) : header));
  });
  return `${JSON.stringify(JSON.parse(json), null, 2)}\n`;
}

const POSTMAN_VARIABLES = {
  baseUrl: BASE_URL,
  sandboxUrl: SANDBOX_URL,
  bearerToken: '',
  payment_id: '',
  reference_id: '',
  payment_link_id: '',
};

const directorySchema = z.looseObject({ item: z.array(z.looseObject({ name: z.string(), request: recordSchema })) });

/** The requests about transactions and those that are missing, in the order of the list. */
function inOrder(directory: unknown) {
  const { item, ...rest } = directorySchema.parse(directory);
  const find = (name: string) => item.find((each) => each.name === name);
  const create = find(CREATE);
  const another = { ...create, name: CREATE_ANOTHER, request: { ...create?.request, name: CREATE_ANOTHER } };
  const items = TRANSACTIONS.map((name) =>
    name === PAY ? POSTMAN_PAY : name === CREATE_ANOTHER ? another : find(name),
  );
  expect([items.includes(undefined), items.length]).toEqual([false, item.length + 2]);
  return { ...rest, item: items };
}

const POSTMAN_PAY = {
  name: PAY,
  request: {
    name: PAY,
    description: { content: PAY_DOCS, type: 'text/plain' },
    url: { path: ['simulator', 'payments', '{{reference_id}}', 'pay'], host: ['{{sandboxUrl}}'] },
    method: 'POST',
    auth: { type: 'noauth' },
  },
  event: [
    {
      listen: 'test',
      script: {
        type: 'text/javascript',
        exec: [
          "const url = pm.variables.replaceIn('{{baseUrl}}/payments/{{payment_id}}');",
          "const header = { Authorization: pm.variables.replaceIn('Bearer {{bearerToken}}') };",
          'const wait = (left) => pm.sendRequest({ url, header }, (error, response) => {',
          "  const isPending = !error && response.json().payment.status === 'pending';",
          '  if (isPending && left > 0) setTimeout(() => wait(left - 1), 500);',
          '});',
          'wait(60);',
        ],
      },
    },
  ],
};

const parametersSchema = z.array(recordSchema);

/** An optional parameter: the user gives it a value and enables it. */
const withoutValue = (parameter: Record<string, unknown>) => ({ ...parameter, value: '', disabled: true });

/** The next requests are about the payment, and the link, that was created last. */
const POSTMAN_SCRIPT = [
  'if (pm.response.code === 201) {',
  '  const { payment, payment_link } = pm.response.json();',
  "  if (payment) pm.collectionVariables.set('payment_id', payment.id);",
  "  if (payment) pm.collectionVariables.set('reference_id', payment.reference_id);",
  "  if (payment_link) pm.collectionVariables.set('payment_link_id', payment_link.id);",
  '}',
];
const BRUNO_SCRIPT = `
script:post-response {
  if (res.getStatus() === 201) {
    const { payment, payment_link } = res.getBody();
    if (payment) bru.setVar("payment_id", payment.id);
    if (payment) bru.setVar("reference_id", payment.reference_id);
    if (payment_link) bru.setVar("payment_link_id", payment_link.id);
  }
}
`;
const BRUNO_ENVIRONMENT = `vars {
  baseUrl: ${BASE_URL}
  sandboxUrl: ${SANDBOX_URL}
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
    ...brunoTransactions(Object.fromEntries(named)),
    'collection.bru': collection,
    'environments/local.bru': BRUNO_ENVIRONMENT,
  };
}

const brunoFile = (name: string) => `Transactions/${name.replace('/', '-')}.bru`;

/** The files about transactions and those that are missing, numbered in the order of the list. */
function brunoTransactions(files: Readonly<Record<string, string>>): Record<string, string> {
  const create = files[brunoFile(CREATE)]?.replace(`name: ${CREATE}`, `name: ${CREATE_ANOTHER}`);
  const added: Readonly<Record<string, string | undefined>> = { [PAY]: BRUNO_PAY, [CREATE_ANOTHER]: create };
  return Object.fromEntries(
    TRANSACTIONS.map((name, index) => {
      const text = added[name] ?? files[brunoFile(name)] ?? '';
      expect(text).toMatch(/^ {2}seq: \d+$/m);
      return [brunoFile(name), text.replace(/^ {2}seq: \d+$/m, `  seq: ${index + 1}`)];
    }),
  );
}

const BRUNO_PAY = `meta {
  name: ${PAY}
  type: http
  seq: 1
  tags: [
    Transactions
  ]
}

post {
  url: {{sandboxUrl}}/simulator/payments/{{reference_id}}/pay
  body: none
  auth: none
}

script:post-response {
  const url = bru.interpolate("{{baseUrl}}/payments/{{payment_id}}");
  const headers = { Authorization: bru.interpolate("Bearer {{token}}") };
  for (let left = 60; left > 0; left -= 1) {
    const { data } = await bru.sendRequest({ method: "GET", url, headers });
    if (data.payment.status !== "pending") break;
    await bru.sleep(500);
  }
}

docs {
  ${PAY_DOCS}
}
`;

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

/** The statuses of a run: a payment is created, shown, paid and refunded, its refund and another one are cancelled. */
const OF_PAYMENT = [201, 200, 200, 200, 200, 200, 201, 200, 200];
/** A link is made, listed, shown and closed. */
const OF_LINK = [201, 200, 200, 200];

describe('Postman', () => {
  const newmanSchema = z.object({
    run: z.object({
      executions: z.array(z.object({ item: z.object({ name: z.string() }), response: z.object({ code: z.number() }) })),
    }),
  });

  async function statusesOf(): Promise<number[]> {
    const report = path.join(directory, 'newman.json');
    const variables = { baseUrl: service.apiUrl, sandboxUrl: service.sandboxUrl, bearerToken: service.secretKey };
    const given = Object.entries(variables).flatMap(([name, value]) => ['--env-var', `${name}=${value}`]);
    const reporter = ['--reporters', 'json', '--reporter-json-export', report];
    const collection = path.join(COLLECTIONS, 'postman.json');
    await run(tool('newman'), ['run', collection, ...given, ...reporter], { timeout: RUN_TIMEOUT_MS });
    const { executions } = newmanSchema.parse(JSON.parse(readFileSync(report, 'utf8'))).run;
    // A request of a script is an execution of its item.
    return [...new Map(executions.map(({ item, response }) => [item.name, response.code])).values()];
  }

  it('runs each request', async () => {
    expect(await statusesOf()).toEqual([...OF_PAYMENT, ...OF_LINK]);
  });
});

describe('Bruno', () => {
  const brunoSchema = z.array(z.object({ results: z.array(z.object({ response: z.object({ status: z.number() }) })) }));

  async function statusesOf(): Promise<number[]> {
    const copy = mkdtempSync(path.join(directory, 'run-'));
    cpSync(path.join(COLLECTIONS, 'bruno'), copy, { recursive: true });
    const variables = { baseUrl: service.apiUrl, sandboxUrl: service.sandboxUrl, token: service.secretKey };
    const given = Object.entries(variables).flatMap(([name, value]) => ['--env-var', `${name}=${value}`]);
    const report = path.join(copy, 'report.json');
    const options = ['--env', 'local', ...given, '--reporter-json', report];
    await run(tool('bru'), ['run', '-r', ...options], { cwd: copy, timeout: RUN_TIMEOUT_MS });
    const results = brunoSchema.parse(JSON.parse(readFileSync(report, 'utf8'))).flatMap(({ results }) => results);
    return results.map(({ response }) => response.status);
  }

  it('runs each request', async () => {
    expect(await statusesOf()).toEqual([...OF_LINK, ...OF_PAYMENT]);
  });
});
