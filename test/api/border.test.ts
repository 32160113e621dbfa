import { request } from 'undici';
import { z } from 'zod';
import { startTestApis, type TestApis, type TestKey } from '../support/api';

/* Each row of "From clients" in docs/border.md: the forms of a field, and what they lead to. */

const UNKNOWN_ID = '01935b6c-7c00-7000-8000-00000000abcd';
/** The JSON was read, and its amount is the first thing that is wrong. */
const WAS_READ = '400 invalid_amount';
const NO_AMOUNT = '{"amount":0}';

type Lines = Readonly<Record<string, string | string[]>>;

let apis: TestApis;
let key: TestKey;

beforeAll(async () => {
  apis = await startTestApis([{}]);
  key = await apis.newKey();
});
afterAll(() => apis.close());

const responseSchema = z.object({ error: z.object({ code: z.string(), message: z.string() }).optional() });

async function call(path: string, headers: Lines = {}, body?: string | Buffer) {
  const authorization = `Bearer ${key.secret}`;
  const response = await request(`${apis.urls[0]}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization, ...headers },
    body: body ?? null,
  });
  const { error } = responseSchema.parse(await response.body.json());
  return {
    outcome: error === undefined ? String(response.statusCode) : `${response.statusCode} ${error.code}`,
    message: error?.message ?? '',
    requestId: response.headers['x-request-id'],
  };
}

const create = (body: string | Buffer, headers: Lines = {}) =>
  call('/payments', { 'content-type': 'application/json', ...headers }, body);

it.each<[string, (secret: string) => string | string[]]>([
  ['as documented', (secret) => `Bearer ${secret}`],
  ['in lower case, with more blanks', (secret) => ` bearer   ${secret} `],
  ['twice the same', (secret) => [`Bearer ${secret}`, `Bearer ${secret}`]],
])('Authorization is read: %s', async (_, authorization) => {
  expect((await call('/transactions', { authorization: authorization(key.secret) })).outcome).toBe('200');
});

it.each<[string, (secret: string) => string | string[], string]>([
  ['two keys', (secret) => [`Bearer ${secret}`, 'Bearer another'], 'Authorization must occur once.'],
  [
    'two keys, the valid one last',
    (secret) => ['Bearer another', `Bearer ${secret}`],
    'Authorization must occur once.',
  ],
  ['another scheme', (secret) => `Basic ${secret}`, 'is not "Bearer <secret key>"'],
  ['no scheme', (secret) => secret, 'is not "Bearer <secret key>"'],
])('Authorization is rejected: %s', async (_, authorization, message) => {
  const rejected = await call('/transactions', { authorization: authorization(key.secret) });
  expect(rejected).toMatchObject({ outcome: '401 invalid_api_key', message: expect.stringContaining(message) });
});

it.each([
  'application/json',
  'Application/JSON',
  'application/json; charset=utf-8',
  'application/json;charset="UTF-8"',
])('Content-Type is read: %s', async (type) => {
  expect((await create(NO_AMOUNT, { 'content-type': type })).outcome).toBe(WAS_READ);
});

it.each(['text/plain', 'application/x-www-form-urlencoded', 'application/jsonx', ''])(
  'Content-Type is rejected: %j',
  async (type) => {
    const rejected = await create(NO_AMOUNT, { 'content-type': type });
    expect(rejected).toMatchObject({ outcome: '400 invalid_json', message: expect.stringContaining('Content-Type') });
  },
);

it.each<[string, string | Buffer]>([
  ['a byte order mark', `\uFEFF${NO_AMOUNT}`],
  ['white space', ` \r\n${NO_AMOUNT}\n`],
  ['escaped characters', '{"\\u0061mount":0}'],
  ['an unknown field', '{"amount":0,"unknown":1}'],
  ['null for a field that may be absent', '{"amount":0,"merchant_reference_id":null,"customer":null,"metadata":null}'],
])('a JSON body is read: %s', async (_, body) => {
  expect((await create(body)).outcome).toBe(WAS_READ);
});

it.each<[string, string | Buffer, string]>([
  ['another encoding', Buffer.from(NO_AMOUNT, 'utf16le'), 'invalid_json'],
  ['a key twice', '{"amount":1000,"amount":1000}', 'invalid_json'],
  ['a comma at the end', '{"amount":1000,}', 'invalid_json'],
  ['a list', '[{"amount":1000}]', 'invalid_json'],
  ['an amount as a text', '{"amount":"1000"}', 'invalid_amount'],
  ['an amount with a fraction', '{"amount":1000.0}', 'invalid_amount'],
  ['an amount with an exponent', '{"amount":1e3}', 'invalid_amount'],
])('a JSON body is rejected: %s', async (_, body, code) => {
  expect((await create(body)).outcome).toBe(`400 ${code}`);
});

it.each<[string, string]>([
  ['a time in UTC', 'created_from=2026-11-21T08:00:00Z'],
  ['a time with a zone, encoded', 'created_from=2026-11-21T08:00:00%2B07:00'],
  ['a time with a zone, its plus sign not encoded', 'created_from=2026-11-21T08:00:00+07:00'],
  ['a zone without a colon', 'created_from=2026-11-21T08:00:00%2B0700'],
  ['a blank instead of the T', 'created_from=2026-11-21%2008:00:00Z'],
  ['no seconds', 'created_from=2026-11-21T08:00Z'],
  ['a day', 'created_from=2026-11-21'],
  ['an unknown parameter', 'unknown=1'],
  ['a limit that is no number', 'limit=all'],
])('a query is read: %s', async (_, query) => {
  expect((await call(`/transactions?${query}`)).outcome).toBe('200');
});

it.each<[string, string, string]>([
  ['a time without a zone', 'created_from=2026-11-21T08:00:00', 'created_from must be an ISO 8601 timestamp'],
  ['a date that does not exist', 'created_from=2026-02-30', 'created_from must be an ISO 8601 timestamp'],
  ['a parameter twice', 'status=paid&status=settled', 'status must be given once.'],
  ['a word of no table', 'status=done', 'status must be one of'],
  ['an empty filter', 'status=', 'status must be one of'],
])('a query is rejected: %s', async (_, query, message) => {
  const rejected = await call(`/transactions?${query}`);
  expect(rejected).toMatchObject({ outcome: '400 invalid_parameter', message: expect.stringContaining(message) });
});

it.each<[string, string]>([
  ['a UUID in lower case', UNKNOWN_ID],
  ['a UUID in upper case', UNKNOWN_ID.toUpperCase()],
  ['a reference', 'LN0000000000000000'],
])('the id of a path is read: %s', async (_, id) => {
  expect((await call(`/payments/${id}`)).outcome).toBe('404 not_found');
});

it.each([
  ['a valid one', 'order-1042', true],
  ['one with control characters or of another length', 'x'.repeat(500), false],
])('X-Request-Id is used or replaced, and never rejected: %s', async (_, requestId, isUsed) => {
  const { outcome, requestId: used } = await call('/transactions', { 'x-request-id': requestId });
  expect([outcome, used === requestId]).toEqual(['200', isUsed]);
});
