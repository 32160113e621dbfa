import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { text } from 'node:stream/consumers';
import { inspect } from 'node:util';
import {
  InvalidApiKeyError,
  Lunas,
  LunasApiError,
  LunasConnectionError,
  LunasError,
  LunasTimeoutError,
  PaymentCancelFailedError,
  RateLimitedError,
  ServerError,
  UnexpectedResponseError,
  type Payments,
} from '../../../packages/node/src/index';
import { retryAfterSecondsOf, retryDelayMs } from '../../../packages/node/src/retry';
import { API_ERRORS, type ApiErrorCode } from '../../../src/domain/errors';

/** The network between the client and the API: each request gets the next response of the script. */
type Reaction = (response: ServerResponse) => void;
interface ReceivedRequest {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const API_KEY = `sk_test_${'a'.repeat(32)}`;
const SUMMARY = { id: 'p1', reference_id: 'LN1', status: 'pending', amount: 50_000 };

let server: Server;
let script: Reaction[];
let received: ReceivedRequest[];
let baseUrl: string;

beforeEach(async () => {
  script = [];
  received = [];
  server = createServer((request, response) => {
    void respond(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port');
  baseUrl = `http://127.0.0.1:${address.port}`;
});

afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await text(request);
  received.push({ method: request.method, url: request.url, headers: request.headers, body });
  (script.shift() ?? ok({ payment: SUMMARY }))(response);
}

const ok =
  (body: object, headers: Record<string, string> = {}): Reaction =>
  (response) =>
    response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
const failure =
  (code: string, httpStatus: number, headers: Record<string, string> = {}): Reaction =>
  (response) =>
    response.writeHead(httpStatus, headers).end(JSON.stringify({ error: { code, message: 'No.' } }));
const rejection = (code: ApiErrorCode, headers: Record<string, string> = {}): Reaction =>
  failure(code, API_ERRORS[code].httpStatus, headers);
const reset: Reaction = (response) => response.destroy();
/** The status and half of the body arrive. */
const half: Reaction = (response) => {
  response.writeHead(201, { 'content-length': '100' }).write('{"payment":');
  setImmediate(() => response.destroy());
};
const silence: Reaction = () => undefined;

const client = (options: Partial<ConstructorParameters<typeof Lunas>[0]> = {}) =>
  new Lunas({ apiKey: API_KEY, baseUrl, ...options });
/** The error of a call that must fail. */
async function errorOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => undefined,
    (error: unknown) => error,
  );
}

describe('a call', () => {
  it('sends the key, its version and the body, and returns the bare object', async () => {
    expect(await client().payments.create({ amount: 50_000 })).toEqual({ ...SUMMARY, currentStatus: 'pending' });
    expect(received).toMatchObject([{ method: 'POST', url: '/payments', body: '{"amount":50000}' }]);
    expect(received[0]?.headers).toMatchObject({
      authorization: `Bearer ${API_KEY}`,
      'content-type': 'application/json',
      'user-agent': expect.stringMatching(/^lunas-node\/\d+\.\d+\.\d+$/),
      'idempotency-key': expect.stringMatching(/^[\da-f-]{36}$/),
    });
  });

  it.each([
    ['a reset', reset],
    ['half a response', half],
    ['a 500', rejection('server_error')],
    ['a 502 of a proxy', (response: ServerResponse) => response.writeHead(502).end('<html>')],
    ['a success that is no JSON', (response: ServerResponse) => response.writeHead(201).end('{"payment":')],
    ['a 429', rejection('rate_limited', { 'retry-after': '0' })],
  ])('a call is repeated after %s, with the same bytes, key and request id', async (_name, reaction) => {
    script = [reaction];
    const body = { amount: 50_000 };
    const call = client().payments.create(body);
    body.amount = 1;
    expect(await call).toMatchObject(SUMMARY);
    expect(received).toHaveLength(2);
    for (const name of ['idempotency-key', 'x-request-id']) {
      expect(new Set(received.map(({ headers }) => headers[name])).size).toBe(1);
    }
    expect(new Set(received.map((request) => request.body))).toEqual(new Set(['{"amount":50000}']));
  });

  it('each call has a new key, or the key that it is given', async () => {
    const { payments } = client();
    await payments.create({ amount: 1 });
    await payments.create({ amount: 1 });
    await payments.create({ amount: 1 }, { idempotencyKey: 'order-1' });
    const keys = received.map(({ headers }) => headers['idempotency-key']);
    expect(new Set(keys).size).toBe(3);
    expect(keys[2]).toBe('order-1');
  });

  it('a replayed creation has the current status, beside the first one', async () => {
    const replayed = { 'idempotency-replayed': 'true', 'x-payment-status': 'expired' };
    script = [ok({ payment: SUMMARY }, replayed), ok({ payment: SUMMARY }, { 'x-payment-status': 'later' })];
    const key = { idempotencyKey: 'ORDER-1042-1' };
    const replay = await client().payments.create({ amount: 50_000 }, key);
    expect([replay.status, replay.currentStatus]).toEqual(['pending', 'expired']);
    // A status of a later version.
    expect(await client().payments.create({ amount: 50_000 }, key)).toMatchObject({ currentStatus: 'pending' });
  });

  it('ends with the last error after the given number of retries', async () => {
    script = [reset, reset, rejection('server_error', { 'x-request-id': 'r-1' })];
    const error = await errorOf(client({ maxRetries: 2 }).payments.get('p1'));
    expect(error).toBeInstanceOf(ServerError);
    expect(error).toMatchObject({ code: 'server_error', status: 500, requestId: 'r-1', attempts: 3 });
    script = [reset];
    const lost = await errorOf(client({ maxRetries: 0 }).payments.get('p1'));
    expect(lost).toBeInstanceOf(LunasConnectionError);
    expect(lost).toMatchObject({
      code: 'connection_failed',
      status: null,
      requestId: received[3]?.headers['x-request-id'],
    });
  });

  it('ends without a retry if Retry-After is more than a minute', async () => {
    script = [rejection('rate_limited', { 'retry-after': '61' })];
    const error = await errorOf(client().payments.get('p1'));
    expect(error).toBeInstanceOf(RateLimitedError);
    expect(error).toMatchObject({ retryAfterSeconds: 61, attempts: 1 });
  });

  it('ends an attempt after timeoutMs', async () => {
    script = [silence, silence];
    const error = await errorOf(client({ timeoutMs: 200, maxRetries: 1 }).payments.get('p1'));
    expect(error).toBeInstanceOf(LunasTimeoutError);
    expect(error).toMatchObject({ code: 'timeout', attempts: 2 });
  });

  it('sends the key to no other address after a redirect', async () => {
    script = [(response) => response.writeHead(307, { location: 'http://127.0.0.1:9/payments' }).end()];
    expect(await errorOf(client().payments.create({ amount: 1 }))).toBeInstanceOf(UnexpectedResponseError);
    expect(received).toHaveLength(1);
  });
});

describe('an error response', () => {
  const CODES = Object.entries(API_ERRORS).map(([code, { httpStatus }]) => ({ code, httpStatus }));

  it.each(CODES)('$code has a class of its own', async ({ code, httpStatus }) => {
    script = [failure(code, httpStatus, { 'x-request-id': 'r-1' })];
    const error = await errorOf(client({ maxRetries: 0 }).payments.get('p1'));
    expect(error).toBeInstanceOf(LunasApiError);
    expect(error).toMatchObject({ code, status: httpStatus, requestId: 'r-1', message: 'No.' });
    expect(Object.getPrototypeOf(error)).not.toBe(LunasApiError.prototype);
  });

  it('an error has the reason of the mistake, and null without one', async () => {
    script = [rejection('payment_create_failed', { 'x-error-reason': 'idempotency_key_reused' })];
    const reused = await errorOf(client().payments.create({ amount: 1 }));
    expect(reused).toMatchObject({ code: 'payment_create_failed', reason: 'idempotency_key_reused' });
    script = [rejection('invalid_bulk_size')];
    expect(await errorOf(client().payments.createBulk([]))).toMatchObject({ reason: null });
  });

  it('a call is not repeated if the same request can only fail again', async () => {
    const final = CODES.filter(({ httpStatus }) => httpStatus < 429);
    for (const { code, httpStatus } of final) {
      script = [failure(code, httpStatus)];
      expect(await errorOf(client().payments.get('p1'))).toMatchObject({ code, attempts: 1 });
    }
    expect(received).toHaveLength(final.length);
  });

  it('a code of a later version is a LunasApiError', async () => {
    script = [failure('constructor', 400)];
    const error = await errorOf(client().payments.get('p1'));
    expect(error).toBeInstanceOf(LunasApiError);
    expect(error).toMatchObject({ code: 'constructor', message: 'No.' });
  });
});

describe('a name that the API ignored', () => {
  it('a name that the API ignored is one warning of the process, with its kind and call', async () => {
    const warn = jest.spyOn(process, 'emitWarning').mockReturnValue();
    const headers = { 'x-ignored-fields': 'callback_url, payments[].expires_in, ...', 'x-ignored-parameters': 'page' };
    script = [rejection('invalid_amount', headers), ok({ payment: SUMMARY }, headers)];
    await errorOf(client().payments.create({ amount: 0 }));
    await client().payments.create({ amount: 1 }, { expand: ['qris'] });
    const fieldWarning = { type: 'LunasWarning', code: 'LUNAS_IGNORED_FIELD' };
    expect(warn.mock.calls).toEqual([
      ['Lunas ignored the field "callback_url" of POST /payments.', fieldWarning],
      ['Lunas ignored the field "payments[].expires_in" of POST /payments.', fieldWarning],
      ['Lunas ignored further fields of POST /payments.', fieldWarning],
      [
        'Lunas ignored the parameter "page" of POST /payments.',
        { type: 'LunasWarning', code: 'LUNAS_IGNORED_PARAMETER' },
      ],
    ]);
    warn.mockRestore();
  });
});

describe('an AbortSignal', () => {
  const reason = new Error('the customer left');

  it('ends a call before its first request', async () => {
    expect(await errorOf(client().payments.create({ amount: 1 }, { signal: AbortSignal.abort(reason) }))).toBe(reason);
    expect(received).toHaveLength(0);
  });

  it('ends a request, and the pause before a retry', async () => {
    for (const reaction of [silence, rejection('rate_limited', { 'retry-after': '60' })]) {
      const controller = new AbortController();
      script = [
        (response) => {
          reaction(response);
          // After the client has read the response.
          setTimeout(() => controller.abort(reason), 100);
        },
      ];
      expect(await errorOf(client().payments.get('p1', { signal: controller.signal }))).toBe(reason);
    }
    expect(received).toHaveLength(2);
  });
});

describe('an action whose response was lost', () => {
  const at = (status: string, second: number): Reaction =>
    ok({ payment: { ...SUMMARY, status, updated_at: `2026-11-21T08:03:${10 + second}.877Z` } });
  const sent = () => received.map(({ method, url }) => `${method} ${url?.replace('/payments/p1', '') ?? ''}`);

  it.each([
    ['cancel', 'pending', reset, 'cancelled', '2026-11-21T08:03:11.877Z'],
    ['cancel', 'refund_processing', half, 'paid', null],
    ['cancel', 'pending', rejection('server_error'), 'cancelled', '2026-11-21T08:03:11.877Z'],
  ] as const)('%s of a payment that was %s: reading shows that it succeeded', async (_, before, lost, after, time) => {
    script = [at(before, 0), lost, at(after, 1)];
    expect(await client().payments.cancel('p1')).toMatchObject({ status: after, cancelled_at: time });
    expect(sent()).toEqual(['GET ', 'POST /cancel', 'GET ']);
  });

  it.each(['refund_processing', 'refund_failed', 'refunded'])('refund: reading shows %s', async (after) => {
    script = [at('paid', 0), silence, at(after, 1)];
    expect(await client({ timeoutMs: 2_000 }).payments.refund('p1')).toMatchObject({ status: after });
    expect(sent()).toEqual(['GET ', 'POST /refund', 'GET ']);
  });

  it('an action whose response was lost is repeated after each reading that shows no change', async () => {
    const paid = at('paid', 0);
    const last = { ...SUMMARY, status: 'refund_processing' };
    script = [paid, reset, paid, rejection('server_error'), paid, ok({ payment: last })];
    expect(await client().payments.refund('p1')).toEqual(last);
    expect(sent()).toEqual(['GET ', 'POST /refund', 'GET ', 'POST /refund', 'GET ', 'POST /refund']);
  });

  it('succeeded if the repeat is rejected because the first attempt ended after the reading', async () => {
    script = [at('paid', 0), reset, at('paid', 0), rejection('payment_refund_failed'), at('refund_processing', 1)];
    expect(await client().payments.refund('p1')).toMatchObject({ status: 'refund_processing' });
    script = [
      at('refund_processing', 0),
      reset,
      at('refund_processing', 0),
      rejection('payment_cancel_failed'),
      at('paid', 1),
    ];
    expect(await client().payments.cancel('p1')).toMatchObject({ status: 'paid', cancelled_at: null });
  });

  it('a refund that another process cancelled meanwhile is not requested again', async () => {
    script = [at('paid', 0), reset, at('paid', 2)];
    expect(await errorOf(client().payments.refund('p1'))).toBeInstanceOf(LunasConnectionError);
    expect(sent()).toEqual(['GET ', 'POST /refund', 'GET ']);
  });

  it('a refund that another process requested meanwhile is not cancelled', async () => {
    for (const before of ['pending', 'paid', 'refund_processing']) {
      received = [];
      script = [at(before, 0), reset, at('refund_processing', 3)];
      expect(await errorOf(client().payments.cancel('p1'))).toBeInstanceOf(LunasConnectionError);
      expect(sent()).toEqual(['GET ', 'POST /cancel', 'GET ']);
    }
  });

  it('stays a rejection if the payment shows no success, and if no response was lost', async () => {
    script = [at('pending', 0), reset, at('paid', 1), rejection('payment_cancel_failed'), at('paid', 1)];
    expect(await errorOf(client().payments.cancel('p1'))).toBeInstanceOf(PaymentCancelFailedError);
    script = [at('cancelled', 0), reset, at('cancelled', 0), rejection('payment_cancel_failed'), at('cancelled', 0)];
    expect(await errorOf(client().payments.cancel('p1'))).toBeInstanceOf(PaymentCancelFailedError);
    received = [];
    script = [at('paid', 0), rejection('payment_cancel_failed')];
    expect(await errorOf(client().payments.cancel('p1'))).toMatchObject({ attempts: 1 });
    expect(sent()).toEqual(['GET ', 'POST /cancel']);
  });

  it('an action whose response was lost is not repeated if its payment cannot be read', async () => {
    const unreadable = Array.from({ length: 3 }, () => rejection('server_error'));
    script = [at('paid', 0), reset, ...unreadable];
    const error = await errorOf(client({ maxRetries: 2 }).payments.refund('p1'));
    expect(error).toBeInstanceOf(LunasConnectionError);
    expect(sent().filter((request) => request === 'POST /refund')).toHaveLength(1);
  });

  it('a key without the scope read: one attempt that may have been executed', async () => {
    const noScope = rejection('scope_not_allowed');
    script = [noScope, ok({ payment: SUMMARY })];
    expect(await client().payments.refund('p1')).toEqual(SUMMARY);
    script = [noScope, reset];
    expect(await errorOf(client().payments.refund('p1'))).toBeInstanceOf(LunasConnectionError);
    expect(received).toHaveLength(4);
  });

  it('an action is repeated without a reading after a 429: the API did nothing', async () => {
    script = [at('paid', 0), rejection('rate_limited', { 'retry-after': '0' }), ok({ payment: SUMMARY })];
    expect(await client().payments.refund('p1')).toEqual(SUMMARY);
    expect(sent()).toEqual(['GET ', 'POST /refund', 'POST /refund']);
  });
});

describe('transactions.list', () => {
  it('follows Link below its own base URL until there is none', async () => {
    const link = '<https://elsewhere.example/transactions?status=paid&cursor=c1>; rel="next"';
    script = [ok({ transactions: [{ id: '1' }, { id: '2' }] }, { link }), ok({ transactions: [{ id: '3' }] })];
    const ids: string[] = [];
    const filter = { status: 'paid', created_from: new Date('2026-11-21T08:00:00Z'), provider: undefined } as const;
    for await (const { id } of client().transactions.list(filter)) ids.push(id);
    expect(ids).toEqual(['1', '2', '3']);
    expect(received.map(({ url }) => url)).toEqual([
      '/transactions?status=paid&created_from=2026-11-21T08%3A00%3A00.000Z',
      '/transactions?status=paid&cursor=c1',
    ]);
  });

  it('requests no page that is not read', async () => {
    script = [ok({ transactions: [{ id: '1' }] }, { link: '</transactions?cursor=c1>; rel="next"' })];
    for await (const { id } of client().transactions.list()) {
      expect(id).toBe('1');
      break;
    }
    expect(received).toHaveLength(1);
  });
});

it('sends a bulk with one key, and with the fields that all items share', async () => {
  script = [ok({ payments: [SUMMARY] })];
  const items = [{ amount: 1, idempotency_key: 'a' }];
  expect(await client().payments.createBulk(items, { provider: 'shopeepay', idempotencyKey: 'k' })).toEqual([SUMMARY]);
  expect(received[0]?.headers['idempotency-key']).toBe('k');
  expect(JSON.parse(received[0]?.body ?? '')).toEqual({ provider: 'shopeepay', payments: items });
});

describe('arguments', () => {
  /** The error of a call that TypeScript would not compile. */
  async function errorInJavaScript(method: keyof Payments, ...given: readonly unknown[]): Promise<unknown> {
    const { payments } = client();
    return errorOf(Reflect.apply(payments[method], payments, given));
  }
  const typeError = (message: string) =>
    expect.objectContaining({ name: 'TypeError', message: expect.stringContaining(message) });

  it('a creation without a body is rejected before it is sent', async () => {
    expect(await errorInJavaScript('create')).toEqual(typeError('payments.create needs an object'));
  });

  it.each(['', '.', '..', undefined, null, 7, { id: 'p1' }])(
    'the id %j is rejected: it names no payment',
    async (id) => {
      for (const method of ['get', 'qris', 'cancel', 'refund'] as const) {
        expect(await errorInJavaScript(method, id)).toEqual(
          typeError('The id of a payment is its id or its reference_id'),
        );
      }
      expect(received).toHaveLength(0);
    },
  );

  it.each([100, '100', { amount: 1_000 }])(
    'a refund with %j is rejected: it is for the whole amount',
    async (given) => {
      expect(await errorInJavaScript('refund', 'p1', given)).toEqual(
        typeError('A refund is always for the whole amount.'),
      );
      expect(received).toHaveLength(0);
    },
  );

  it.each([
    ['a number', 100],
    ['a text', 'ORDER-1042-1'],
    ['null', null],
    ['a list', ['qris']],
    ['a signal', new AbortController().signal],
  ])('the options of a call are an object, and not %s', async (_kind, given) => {
    const message = (call: string) => typeError(`The options of ${call} are an object with: `);
    for (const method of ['create', 'createBulk', 'get', 'qris', 'cancel', 'refund'] as const) {
      expect(await errorInJavaScript(method, 'p1', given)).toEqual(message(`payments.${method}`));
    }
    const { transactions } = client();
    const list: AsyncGenerator = Reflect.apply(Reflect.get(transactions, 'list'), transactions, [{}, given]);
    expect(await errorOf(list.next())).toEqual(message('transactions.list'));
    expect(received).toHaveLength(0);
  });

  it('an option of another name is rejected, with the names that exist', async () => {
    const misspelt = { idempotency_key: 'same' };
    for (const method of ['create', 'createBulk', 'get', 'qris', 'cancel', 'refund'] as const) {
      const message = `payments.${method} has no option "idempotency_key". It has: signal`;
      expect(await errorInJavaScript(method, 'p1', misspelt)).toEqual(typeError(message));
    }
    const options: object = misspelt;
    expect(await errorOf(client().transactions.list({}, options).next())).toEqual(
      typeError('transactions.list has no'),
    );
    expect(received).toHaveLength(0);
  });

  it('an expansion may be one name or a list', async () => {
    const { payments, transactions } = client();
    await payments.create({ amount: 1 }, { expand: 'checkout_url' });
    await payments.get('p1', { expand: ['checkout_url', 'qris'] });
    await payments.get('p1', { expand: [] });
    script = [ok({ transactions: [] })];
    await transactions.list({ expand: 'refund' }).next();
    expect(received.map(({ url }) => url)).toEqual([
      '/payments?expand=checkout_url',
      '/payments/p1?expand=checkout_url,qris',
      '/payments/p1',
      '/transactions?expand=refund',
    ]);
  });

  it('an id stays one segment of the path', async () => {
    await client().payments.cancel('../x?y#z');
    expect(received.map(({ url }) => url)).toEqual(['/payments/..%2Fx%3Fy%23z', '/payments/..%2Fx%3Fy%23z/cancel']);
  });

  it.each([
    { apiKey: '' },
    { apiKey: 'sk_test_\n' },
    { baseUrl: '' },
    { baseUrl: 'lunas.example' },
    { baseUrl: 'ftp://lunas.example' },
    { baseUrl: 'https://lunas.example?x=1' },
    { baseUrl: 'https://user:secret@lunas.example' },
    { timeoutMs: 0 },
    { timeoutMs: 2 ** 31 },
    { maxRetries: -1 },
    { maxRetries: Number.NaN },
  ])('the options %j are rejected', (options) => {
    expect(() => client(options)).toThrow(TypeError);
  });

  it.each([
    [{ apiKey: undefined }, 'apiKey must be a secret key of Lunas.'],
    [{ apiKey: null }, 'apiKey must be a secret key of Lunas.'],
    [{ apiKey: ['sk_test_1'] }, 'apiKey must be a secret key of Lunas.'],
    [{ baseUrl: undefined }, 'baseUrl must be an http or https address'],
    [{ timeout: 5 }, 'Lunas has no option "timeout". It has: apiKey, baseUrl, timeoutMs, maxRetries.'],
    [{ retries: 5 }, 'Lunas has no option "retries".'],
  ])('the options %p are rejected with the reason', (options: object, message) => {
    expect(() => client(options)).toThrow(typeError(message));
  });

  it.each([[], [API_KEY, 'https://lunas.example']])('a client needs an object of options', (...given) => {
    expect(() => Reflect.construct(Lunas, given)).toThrow(typeError('The options of Lunas are an object with: apiKey'));
  });

  it('a base URL may have a path', async () => {
    await client({ baseUrl: `${baseUrl}/prefix/` }).payments.get('p1');
    expect(received[0]?.url).toBe('/prefix/payments/p1');
  });
});

it('shows the key neither when it is printed nor in an error', async () => {
  expect(inspect(client(), { depth: 9, showHidden: true })).not.toContain(API_KEY);
  script = [rejection('invalid_api_key')];
  const error = await errorOf(client().payments.get('p1'));
  expect(error).toBeInstanceOf(InvalidApiKeyError);
  expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(API_KEY);
  expect(error).toBeInstanceOf(LunasError);
});

describe('the delay before an attempt', () => {
  it('doubles up to 8 s, and half of it is random', () => {
    expect([1, 2, 3, 5, 9].map((attempt) => retryDelayMs(attempt, null, 1))).toEqual([500, 1_000, 2_000, 8_000, 8_000]);
    expect([1, 2, 3, 5, 9].map((attempt) => retryDelayMs(attempt, null, 0))).toEqual([250, 500, 1_000, 4_000, 4_000]);
  });

  it('the delay before an attempt is at least Retry-After, in seconds or as a date', () => {
    const at = Date.parse('2026-11-21T08:00:00Z');
    expect(retryDelayMs(1, 7, 0)).toBe(7_000);
    expect(retryDelayMs(1, 7, 1)).toBe(7_500);
    expect(retryAfterSecondsOf('7', at)).toEqual({ retryAfterSeconds: 7 });
    expect(retryAfterSecondsOf('Sat, 21 Nov 2026 08:00:09 GMT', at)).toEqual({ retryAfterSeconds: 9 });
    expect(retryAfterSecondsOf('Sat, 21 Nov 2026 07:00:00 GMT', at)).toEqual({ retryAfterSeconds: 0 });
    expect(retryAfterSecondsOf('soon', at)).toEqual({});
  });
});
