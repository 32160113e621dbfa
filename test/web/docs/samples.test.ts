import { execFile, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { buildDocument } from '../../../src/api/openapi/document';
import { MERCHANT_ENDPOINTS } from '../../../src/servers/api-routes';
import { operationsOf, parseOpenapi } from '../../../src/web/docs/openapi-document';
import { samplesOf } from '../../../src/web/docs/samples';

interface SentRequest {
  readonly request: string;
  readonly authorization: string | undefined;
  readonly idempotencyKey: string | string[] | undefined;
  readonly contentType: string | undefined;
  readonly body: unknown;
}

/** What the samples sent, by the language of the sample. */
const sent = new Map<string, SentRequest>();
const directory = mkdtempSync(path.join(os.tmpdir(), 'lunas-samples-'));
let server: Server;
let port: number;
beforeAll(async () => {
  server = createServer((request, response) => {
    const isKnown = request.headers.authorization === 'Bearer sk_test_1';
    const body = isKnown ? '{"payment":{}}' : '{"error":{"code":"invalid_api_key","message":"The key is mistyped."}}';
    void record(request).then(() => response.writeHead(isKnown ? 200 : 401).end(body));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  port = typeof address === 'object' && address ? address.port : 0;
});

async function record(message: IncomingMessage): Promise<void> {
  const { method = '', url = '', headers } = message;
  const [, language = '', address = ''] = /^\/(\w+)(\/.*)$/.exec(url) ?? [];
  const body = await text(message);
  sent.set(language, {
    request: `${method} ${address}`,
    authorization: headers.authorization,
    idempotencyKey: headers['idempotency-key'],
    contentType: headers['content-type'],
    body: body === '' ? null : JSON.parse(body),
  });
}

afterAll(() => {
  server.close();
  rmSync(directory, { recursive: true });
});

interface Runner {
  readonly file: string;
  readonly command: readonly [command: string, ...args: string[]];
}

const RUNNERS: Readonly<Record<string, Runner>> = {
  curl: { file: 'sample.sh', command: ['sh'] },
  'Node.js': { file: 'sample.mjs', command: ['node'] },
  Python: { file: 'sample.py', command: ['python3'] },
  PHP: { file: 'sample.php', command: ['php'] },
  Go: { file: 'sample.go', command: ['go', 'run'] },
};

function isInstalled({ command: [command] }: Runner): boolean {
  try {
    execFileSync('which', [command === 'sh' ? 'curl' : command], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

const installed = Object.entries(RUNNERS).filter(([, runner]) => isInstalled(runner));

/** @returns what the sample prints */
async function runSample(
  { file, command: [command, ...args] }: Runner,
  code: string,
  { language, key }: { readonly language: string; readonly key: string },
): Promise<string> {
  const target = path.join(directory, file);
  writeFileSync(target, code);
  const addresses = { LUNAS_URL: `http://127.0.0.1:${port}/${language}`, LUNAS_KEY: key, PAYMENT_ID: 'ID' };
  const { stdout } = await promisify(execFile)(command, [...args, target], { env: { ...process.env, ...addresses } });
  return stdout;
}

const operations = operationsOf(parseOpenapi(JSON.parse(JSON.stringify(buildDocument(MERCHANT_ENDPOINTS)))));

it('each operation has a sample in each language', () => {
  for (const operation of operations) {
    expect(samplesOf(operation).map(({ name }) => name)).toEqual(Object.keys(RUNNERS));
  }
});

it.each(operations.map((operation) => [operation.operationId, operation] as const))(
  'the samples of %s run, send what the document describes, and print the response',
  async (_name, operation) => {
    const { method, path: template, requestBody } = operation;
    const [example] = Object.values(requestBody?.content['application/json'].examples ?? {});
    const samples = new Map(samplesOf(operation).map(({ name, code }) => [name, code]));
    for (const [name, runner] of installed) {
      const language = name.replace('.', '');
      const stdout = await runSample(runner, samples.get(name) ?? '', { language, key: 'sk_test_1' });
      expect([name, stdout]).toEqual([name, expect.stringMatching(/payment/)]);
      const { request, authorization, body, contentType, idempotencyKey } = sent.get(language) ?? {};
      expect([name, authorization, body]).toEqual([name, 'Bearer sk_test_1', example?.value ?? null]);
      expect([name, request?.split('?')[0]]).toEqual([name, `${method} ${template.replace('{id}', 'ID')}`]);
      const ofBody = example ? ['application/json', 'ORDER-1042-1'] : [undefined, undefined];
      expect([name, contentType, idempotencyKey]).toEqual([name, ...ofBody]);
      sent.delete(language);
    }
  },
);

it('a sample prints the message of a rejection', async () => {
  const [operation] = operations;
  const samples = new Map(operation && samplesOf(operation).map(({ name, code }) => [name, code]));
  for (const [name, runner] of installed) {
    const stdout = await runSample(runner, samples.get(name) ?? '', { language: 'x', key: 'sk_test_2' });
    expect([name, stdout]).toEqual([name, expect.stringContaining('The key is mistyped.')]);
  }
});
