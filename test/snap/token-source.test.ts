import { indeterminate, type Indeterminate, type ProviderCall } from '../../src/domain/provider-call';
import { TokenSource, type AccessToken } from '../../src/snap/token-source';

const TOKEN_SECONDS = 900;
let clockMs = 0;

beforeEach(() => {
  clockMs = 1_800_000_000_000;
  jest.spyOn(Date, 'now').mockImplementation(() => clockMs);
});

afterEach(() => jest.restoreAllMocks());

const passSeconds = (seconds: number) => (clockMs += seconds * 1000);

function callOf(timeoutMs = 60_000, signal = new AbortController().signal): ProviderCall {
  return { signal, deadlineAtMs: clockMs + timeoutMs };
}

/** An acquirer that issues numbered tokens. */
function openAcquirer() {
  const acquirer = {
    requests: 0,
    respond: (token: AccessToken): Promise<AccessToken | Indeterminate> => Promise.resolve(token),
  };
  const tokens = new TokenSource(() => {
    acquirer.requests += 1;
    const value = `token-${acquirer.requests}`;
    return acquirer.respond({ value, obtainedAtMs: clockMs, expiresAtMs: clockMs + TOKEN_SECONDS * 1000 });
  });
  const read = async (rejected?: string): Promise<string> => {
    const token = await tokens.read(callOf(), rejected);
    return 'value' in token ? token.value : token.reason;
  };
  return { acquirer, tokens, read };
}

/** Lets what runs in the background complete. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

it('50 concurrent calls share one request', async () => {
  const { acquirer, read } = openAcquirer();
  const read50 = await Promise.all(Array.from({ length: 50 }, () => read()));
  expect(new Set(read50)).toEqual(new Set(['token-1']));
  expect(acquirer.requests).toBe(1);
});

it('a call refreshes ahead without waiting, and a token is not used in its last 10 seconds', async () => {
  const { acquirer, read } = openAcquirer();
  await read();
  passSeconds(TOKEN_SECONDS * 0.7);
  expect(await read()).toBe('token-1');
  expect(acquirer.requests).toBe(1);
  passSeconds(TOKEN_SECONDS * 0.2);
  expect(await read()).toBe('token-1');
  await settle();
  expect(acquirer.requests).toBe(2);
  expect(await read()).toBe('token-2');
  passSeconds(TOKEN_SECONDS - 10);
  expect(await read()).toBe('token-3');
});

it('a process that calls each second makes three requests for tokens in 30 minutes', async () => {
  const { acquirer, read } = openAcquirer();
  for (let second = 0; second < 1800; second += 1) {
    expect(await read()).toMatch(/^token-\d$/);
    await settle();
    passSeconds(1);
  }
  expect(acquirer.requests).toBe(3);
});

it('calls whose token was rejected share one request for another', async () => {
  const { acquirer, read } = openAcquirer();
  const rejected = await read();
  const fresh = await Promise.all(Array.from({ length: 20 }, () => read(rejected)));
  expect(new Set(fresh)).toEqual(new Set(['token-2']));
  expect(await read(rejected)).toBe('token-2');
  expect(acquirer.requests).toBe(2);
});

it('a request that fails is not remembered', async () => {
  const { acquirer, read } = openAcquirer();
  const succeed = acquirer.respond;
  acquirer.respond = () => Promise.resolve(indeterminate('no response'));
  expect(await read()).toBe('no response');
  acquirer.respond = succeed;
  expect(await read()).toBe('token-2');
});

it('a call waits for no longer than its own deadline and its activity', async () => {
  const { acquirer, tokens } = openAcquirer();
  acquirer.respond = () => new Promise(() => undefined);
  expect(await tokens.read(callOf(50))).toMatchObject({ outcome: 'indeterminate' });
  expect(await tokens.read(callOf(-1))).toMatchObject({ outcome: 'indeterminate' });
  const activity = new AbortController();
  const pending = tokens.read(callOf(600_000, activity.signal));
  activity.abort();
  expect(await pending).toMatchObject({ outcome: 'indeterminate' });
  expect(acquirer.requests).toBe(1);
});
