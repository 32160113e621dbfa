import { validate as isUuid } from 'uuid';
import { sendRequest, startTestApis, type TestApis } from '../support/api';

let apis: TestApis;
beforeAll(async () => {
  apis = await startTestApis([{}]);
});
afterAll(() => apis.close());

async function requestIdFor(headers: NonNullable<RequestInit['headers']>): Promise<string | null> {
  return (await sendRequest(`${apis.urls[0]}/healthz`, { headers })).headers.get('x-request-id');
}

/** Every visible character of ASCII, and the maximum length. */
const VISIBLE = Array.from({ length: 0x7e - 0x20 }, (_, index) => String.fromCharCode(0x21 + index)).join('');

describe('X-Request-Id', () => {
  it.each(['1', 'order-1042/attempt:1', VISIBLE, 'x'.repeat(128)])(
    'X-Request-Id is that of the caller: %s',
    async (given) => {
      expect(await requestIdFor({ 'x-request-id': given })).toBe(given);
    },
  );

  it.each(['', 'x'.repeat(129), 'two words', 'tab\tbed', 'caf\u00e9'])(
    'X-Request-Id is a new UUID instead of an invalid one: %j',
    async (given) => {
      expect(isUuid(await requestIdFor({ 'x-request-id': given }))).toBe(true);
    },
  );

  it('X-Request-Id is a new UUID if the caller sends none, or two', async () => {
    const two: NonNullable<RequestInit['headers']> = [
      ['x-request-id', 'a'],
      ['x-request-id', 'b'],
    ];
    const made = [await requestIdFor({}), await requestIdFor({}), await requestIdFor(two)];
    expect(made.every(isUuid)).toBe(true);
    expect(new Set(made).size).toBe(3);
  });

  it('an error has its X-Request-Id, too', async () => {
    const { status, headers } = await sendRequest(`${apis.urls[0]}/nowhere`, { headers: { 'x-request-id': 'mine' } });
    expect([status, headers.get('x-request-id')]).toEqual([404, 'mine']);
  });
});
