import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type Server } from 'node:http';
import { buffer, text } from 'node:stream/consumers';
import express from 'express';
import { StreamBody } from '../../../src/http/endpoint';
import { exportCsv, type CsvExport } from '../../../src/web/page/export-csv';
import { eventually } from '../../support/eventually';

let server: Server;
let reads: number;
let ends: number;
let larges: number;

const source = (count: number, textOf: (n: number) => string, maxRows?: number): CsvExport<number> => ({
  fileName: 'numbers',
  columns: { number: (n) => n, text: textOf },
  readPage(after, limit) {
    reads += 1;
    const first = after === null ? 0 : after + 1;
    return Promise.resolve(Array.from({ length: Math.max(Math.min(limit, count - first), 0) }, (_, n) => first + n));
  },
  limitLine: (last) => `more after ${last}`,
  ...(maxRows !== undefined && { maxRows }),
});

async function open(exported: CsvExport<number>): Promise<IncomingMessage> {
  [reads, ends, larges] = [0, 0, 0];
  const app = express();
  app.get('/', (_request, response) => {
    const { headers = {}, body } = exportCsv(exported, {
      language: 'id',
      delimiter: undefined,
      log: { warn: () => undefined },
      record: (work) => work(),
      onLarge: () => Promise.resolve(void (larges += 1)),
      onEnd: () => (ends += 1),
    });
    response.set(headers);
    if (body instanceof StreamBody) body.open(response);
  });
  server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  const [response] = await once(get({ port, host: '127.0.0.1' }), 'response');
  return response;
}

afterEach(() => {
  server.closeAllConnections();
  server.close();
});

it.each([
  ["A;=cmd|' /C calc'!A1;B", "A;'=cmd|' /C calc'!A1;B"],
  ['A,=1+1,B', "A,'=1+1,B"],
  ['a; -2 ;\t@x', "a; '-2 ;\t'@x"],
  ['A;"=1+1&"";B', "A;'=1+1&;B"],
  ['A;\uFF1D1+1;B', "A;'\uFF1D1+1;B"],
  ['a\n=1+1;b', 'a =1+1;b'],
  ['a\r\n"=1+1";b', 'a =1+1;b'],
  ['a;\n@x', "a; '@x"],
  ['\n=1+1', " '=1+1"],
  ['a-b;c', 'a-b;c'],
])('escapes the parts of %j that begin a formula with another delimiter', async (order, escaped) => {
  const response = await open(source(1, () => order));
  expect((await text(response)).replaceAll('"', '')).toContain(`0;${escaped}\r\n`);
});

it('escapes texts that begin a formula, and no number', async () => {
  const texts = ['=1+1', '-1', '@x', 'a;b', 'two\nlines'];
  const response = await open({
    ...source(5, (n) => texts[n] ?? ''),
    columns: { number: (n) => -n, text: (n) => texts[n] ?? null },
  });
  expect(response.headers['content-disposition']).toBe('attachment; filename="numbers.csv"');
  expect((await buffer(response)).toString()).toBe(
    "\uFEFFnumber;text\r\n0;'=1+1\r\n-1;'-1\r\n-2;'@x\r\n-3;\"a;b\"\r\n-4;two lines\r\n",
  );
});

it.each([
  [2_500, undefined, 2_500],
  [2_000, 2_000, 2_000],
  [0, undefined, 0],
])('an export has each of %s rows once, with a limit of %s', async (count, maxRows, expected) => {
  const lines = (await text(await open(source(count, String, maxRows)))).trimEnd().split('\r\n').slice(1);
  expect(lines).toEqual(Array.from({ length: expected }, (_, n) => `${n};${n}`));
  expect(ends).toBe(1);
});

it.each([
  [10_000, 0],
  [10_001, 1],
  [30_000, 1],
])('an export of %i rows is counted as a large one %i times', async (count, expected) => {
  await text(await open(source(count, String)));
  expect(larges).toBe(expected);
});

it('ends at the limit with a line that names where the next export begins', async () => {
  const lines = (await text(await open(source(2_000, String, 1_500)))).trimEnd().split('\r\n');
  expect(lines).toHaveLength(1 + 1_500 + 1);
  expect(lines.slice(-2)).toEqual(['1499;1499', 'more after 1499']);
});

it('reads no further page for a client that does not read, and none after it has left', async () => {
  const response = await open(source(1_000_000, () => 'x'.repeat(2_000)));
  await once(response, 'readable');
  let before: number;
  do {
    before = reads;
    await new Promise((resolve) => setTimeout(resolve, 200));
  } while (reads !== before);
  expect(reads).toBeLessThan(20);
  response.destroy();
  await eventually(
    () => Promise.resolve(ends),
    (count) => count === 1,
  );
  const atEnd = reads;
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(reads).toBeLessThanOrEqual(atEnd + 1);
});
