import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { buildDocument } from '../../../src/api/openapi/document';
import { transitionWriters } from '../../../src/db/transitions/payment-transitions';
import { API_ERRORS, ERROR_REASONS } from '../../../src/domain/errors';
import { WEBHOOK_EVENTS } from '../../../src/domain/events';
import { parseQris } from '../../../src/qris/qris';
import { MERCHANT_ENDPOINTS } from '../../../src/servers/api-routes';
import { startTestApis, type TestApis } from '../../support/api';
import { expectContract, validatorAt, valueAt } from '../../support/contract';
import { createTestLedger, creation } from '../../support/payments';

let apis: TestApis;
let url: string;
beforeAll(async () => {
  apis = await startTestApis([{}]);
  url = apis.urls[0] ?? '';
});
afterAll(() => apis.close());

const document: unknown = JSON.parse(JSON.stringify(buildDocument(MERCHANT_ENDPOINTS)));

/** Every value in the document with its location, itself first. */
function* everythingIn(
  value: unknown,
  location: readonly string[] = [],
): Generator<[location: readonly string[], value: unknown]> {
  yield [location, value];
  if (typeof value !== 'object' || value === null) return;
  for (const [key, member] of Object.entries(value)) yield* everythingIn(member, [...location, key]);
}
const everything = [...everythingIn(document)];

/** The values at a path of keys, `*` for any. */
function all(...pattern: readonly string[]) {
  return everything.filter(
    ([location]) =>
      location.length === pattern.length && pattern.every((key, index) => key === '*' || key === location[index]),
  );
}

describe('GET /openapi.json', () => {
  it('200: is an OpenAPI 3.1 document as the specification requires', async () => {
    const response = await fetch(`${url}/openapi.json`);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
    expect(await response.json()).toEqual(document);
    expect(document).toMatchObject({
      openapi: expect.stringMatching(/^3\.1\.\d+$/),
      info: { title: expect.any(String), version: expect.any(String) },
      security: [{ secretKey: [] }],
      components: { securitySchemes: { secretKey: { type: 'http', scheme: 'bearer' } } },
    });
    const operations = [...all('paths', '*', '*'), ...all('webhooks', '*', '*')].filter(
      ([location]) => location.at(-1) !== 'parameters',
    );
    for (const [location, operation] of operations) {
      expect(['get', 'post']).toContain(location.at(-1));
      expect(operation).toMatchObject({
        operationId: expect.stringMatching(/^\w+$/),
        summary: expect.any(String),
        description: expect.any(String),
        responses: expect.any(Object),
      });
    }
    const ids = operations.map(([, operation]) => valueAt(operation, ['operationId']));
    expect(new Set(ids).size).toBe(ids.length);
    for (const [, response] of all('paths', '*', '*', 'responses', '*')) {
      expect(response).toMatchObject({ description: expect.any(String), content: expect.any(Object) });
    }
    for (const [location] of all('paths', '*')) {
      const names = (location[1] ?? '').match(/(?<=\{)\w+(?=\})/g) ?? [];
      const parameters = all('paths', location[1] ?? '', 'parameters', '*').map(([, parameter]) => parameter);
      expect(parameters).toMatchObject(names.map((name) => ({ name, in: 'path', required: true, schema: {} })));
    }
  });

  it("the OpenAPI document has no problem by redocly's recommended rules", () => {
    const lint = (source: unknown) =>
      execFileSync(process.execPath, [path.join(__dirname, 'lint.mjs')], {
        input: JSON.stringify(source),
        encoding: 'utf8',
      });
    expect(lint(document)).toBe('');
    expect(lint({ openapi: '3.1.0', info: {}, paths: {} })).toContain('struct');
  });

  it('the OpenAPI document has each referenced component, and references each component', () => {
    const references = everything
      .filter(([location]) => location.at(-1) === '$ref')
      .map(([, reference]) => String(reference));
    expect(references.length).toBeGreaterThan(50);
    for (const reference of references) {
      expect(reference).toMatch(/^#\/components\/\w+\/[\w-]+$/);
      expect(valueAt(document, reference.slice(2).split('/'))).toBeDefined();
    }
    const components = [...all('components', 'schemas', '*'), ...all('components', 'headers', '*')];
    expect([...new Set(references)].sort()).toEqual(components.map(([location]) => `#/${location.join('/')}`).sort());
  });

  it('the OpenAPI document has every error code of the contract under its status', () => {
    const codes = all('paths', '*', '*', 'responses', '*', 'content', 'application/json', 'examples', '*');
    const statusOf = new Map(codes.map(([location]) => [location[8] ?? '', Number(location[4])]));
    const failures = [...statusOf].filter(([, status]) => status >= 400);
    expect(Object.fromEntries(failures)).toEqual(
      Object.fromEntries(Object.entries(API_ERRORS).map(([code, { httpStatus }]) => [code, httpStatus])),
    );
  });

  it('the OpenAPI document has each reason of an error as a value of its header', () => {
    const reasons = { type: 'string', enum: Object.keys(ERROR_REASONS) };
    expect(valueAt(document, ['components', 'headers', 'X-Error-Reason'])).toMatchObject({ schema: reasons });
  });

  it('the OpenAPI document has a webhook for each event', () => {
    expect(all('webhooks', '*').map(([location]) => location[1])).toEqual(WEBHOOK_EVENTS);
  });

  it('describes webhooks as they are sent', async () => {
    const ledger = await createTestLedger();
    try {
      for (const merchantReferenceId of ['ORDER-1', null]) {
        await transitionWriters.create(ledger.context, creation(ledger.newTerms({ merchantReferenceId }), new Date()));
      }
      const { rows } = await ledger.db.query<{ body: string }>('select body from webhook_events');
      expect(rows).toHaveLength(2);
      for (const { body } of rows) {
        const validate = validatorAt(['components', 'schemas', 'WebhookEvent']);
        validate?.(JSON.parse(body));
        expect([body, validate?.errors]).toEqual([body, null]);
      }
    } finally {
      await ledger.close();
    }
  });

  it('the schemas accept the examples of the document, for every request, response and webhook', () => {
    const examples = everything.filter(
      ([location]) => location.at(-3) === 'application/json' && location.at(-2) === 'examples',
    );
    expect(examples.length).toBeGreaterThan(60);
    for (const [location, example] of examples) {
      const validate = validatorAt([...location.slice(0, -2), 'schema']);
      validate?.(valueAt(example, ['value']));
      expect([location, validate?.errors]).toEqual([location, null]);
    }
    const payloads = everything.filter(
      ([location]) => location.at(-1) === 'qris_payload' && !location.includes('properties'),
    );
    expect(payloads.length).toBeGreaterThan(0);
    for (const [, payload] of payloads) expect(parseQris(String(payload))).toMatchObject({ ok: true });
  });
});

describe('the contract check of live responses', () => {
  const headers = new Headers({ 'x-request-id': 'r' });
  const notFound = { status: 404, headers, body: { error: { code: 'not_found', message: 'm' } } };
  const qris = {
    payload: '0002',
    image_url: 'https://pay.example.com/q.png',
    checkout_url: 'https://pay.example.com/pay/t',
    expires_at: '2026-11-21T08:15:01.000Z',
  };
  const body = { qris };

  it.each([
    ['a key that is not documented', '/payments/x/qris', { status: 200, headers, body: { ...body, more: 1 } }],
    [
      'an undocumented key in an object',
      '/payments/x/qris',
      { status: 200, headers, body: { qris: { ...qris, more: 1 } } },
    ],
    ['a key that is missing', '/payments/x/qris', { status: 200, headers, body: { qris: { payload: '0002' } } }],
    [
      'a time without its zone',
      '/payments/x/qris',
      { status: 200, headers, body: { qris: { ...qris, expires_at: '2026-11-21T08:15:01' } } },
    ],
    ['a status that is not documented', '/payments/x/qris', { status: 418, headers, body }],
    ['a code of another status', '/payments/x', { ...notFound, status: 401 }],
    ['a response without its id', '/payments/x', { ...notFound, headers: new Headers() }],
    ['a status other than 404 for an unknown path', '/nothing', { status: 200, headers, body: {} }],
  ])('rejects %s', (_name, path, response) => {
    expect(() => expectContract('GET', path, response)).toThrow('is not as documented');
  });

  it('accepts documented responses', () => {
    for (const [method, path, response] of [
      ['GET', '/payments/x/qris?a=b', { status: 200, headers, body }],
      ['GET', '/PAYMENTS/x/', notFound],
      ['PUT', '/payments/x', notFound],
    ] as const) {
      expect(() => expectContract(method, path, response)).not.toThrow();
    }
  });
});
