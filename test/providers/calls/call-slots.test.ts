import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { limitCalls } from '../../../src/providers/calls/call-slots';
import { createMidtransProvider } from '../../../src/providers/midtrans/midtrans-provider';
import type { FindPaymentOutcome } from '../../../src/providers/provider';
import type { ProviderRegistry } from '../../../src/providers/registry';
import { eventually } from '../../support/eventually';

const SLOTS = 5;
const NOT_FOUND = JSON.stringify({ status_code: '404', status_message: 'no such order' });
const NO_SLOT = {
  outcome: 'indeterminate',
  reason: 'too many calls to the provider account are in flight',
} satisfies FindPaymentOutcome;

/** An acquirer that knows no order, and counts the calls in flight. */
async function startAcquirer() {
  const open = new Set<ServerResponse>();
  let isHanging = false;
  let maxInFlight = 0;
  const respondTo = (response: ServerResponse): void => {
    // Before the caller can have the response, and make its next call.
    open.delete(response);
    response.end(NOT_FOUND);
  };
  const server = createServer((_request, response) => {
    open.add(response);
    maxInFlight = Math.max(maxInFlight, open.size);
    if (!isHanging) setTimeout(() => respondTo(response), 5);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : '';
  const baseUrl = `http://127.0.0.1:${port}`;
  const provider = createMidtransProvider({ baseUrl, serverKey: 'k', notificationUrl: 'http://127.0.0.1/' });
  return {
    provider,
    inFlight: async () => open.size,
    maxInFlight: () => maxInFlight,
    hang: () => (isHanging = true),
    /** From now on it responds, also to the calls in flight. */
    respond() {
      isHanging = false;
      for (const response of open) respondTo(response);
    },
    async close() {
      await provider.close();
      server.closeAllConnections();
      await once(server.close(), 'close');
    },
  };
}

type Acquirer = Awaited<ReturnType<typeof startAcquirer>>;
let acquirers: Record<'a' | 'b', Acquirer>;
let registry: ProviderRegistry;

beforeEach(async () => {
  acquirers = { a: await startAcquirer(), b: await startAcquirer() };
  const forAccount = async (accountId: string) => acquirers[accountId === 'a' ? 'a' : 'b'].provider;
  registry = limitCalls({ forAccount, findAccount: forAccount, close: async () => undefined }, SLOTS);
});
afterEach(async () => {
  await Promise.all([acquirers.a.close(), acquirers.b.close()]);
});

async function find(accountId: 'a' | 'b', signal = new AbortController().signal): Promise<FindPaymentOutcome> {
  const provider = await registry.forAccount(accountId);
  return provider.findPayment({ referenceId: 'ORDER', issued: null }, { signal, deadlineAtMs: Date.now() + 60_000 });
}

async function outcomesOf(calls: readonly Promise<FindPaymentOutcome>[]): Promise<string[]> {
  return (await Promise.all(calls)).map(({ outcome }) => outcome);
}

const times = (count: number, accountId: 'a' | 'b') => Array.from({ length: count }, () => find(accountId));

it('calls to an account that responds wait for a slot', async () => {
  expect(await outcomesOf(times(4 * SLOTS, 'a'))).toEqual(Array(4 * SLOTS).fill('not_found'));
  // A slow machine may respond to the first calls before it sends the last ones.
  expect(acquirers.a.maxInFlight()).toBeLessThanOrEqual(SLOTS);
});

it('an account that hangs has its slots only, and calls to another account do not wait for it', async () => {
  acquirers.a.hang();
  const hung = times(SLOTS, 'a');
  await eventually(acquirers.a.inFlight, (inFlight) => inFlight === SLOTS);
  // These wait for a while, until it is known that the account does not respond.
  expect(await outcomesOf(times(SLOTS, 'a'))).toEqual(Array(SLOTS).fill('indeterminate'));

  // From now on calls end before the timers of this turn of the event loop.
  const order: string[] = [];
  const timer = new Promise<void>((resolve) => setTimeout(resolve, 0)).then(() => order.push('timer'));
  await Promise.all([...times(100, 'a').map((call) => call.then(({ outcome }) => order.push(outcome))), timer]);
  expect(order).toEqual([...Array(100).fill('indeterminate'), 'timer']);
  expect(await outcomesOf(times(2 * SLOTS, 'b'))).toEqual(Array(2 * SLOTS).fill('not_found'));
  expect(acquirers.a.maxInFlight()).toBe(SLOTS);

  acquirers.a.respond();
  await Promise.all(hung);
  expect(await outcomesOf(times(2 * SLOTS, 'a'))).toEqual(Array(2 * SLOTS).fill('not_found'));
});

it('a call that is cancelled while it waits is not made', async () => {
  acquirers.a.hang();
  const hung = times(SLOTS, 'a');
  await eventually(acquirers.a.inFlight, (inFlight) => inFlight === SLOTS);
  const cancelled = new AbortController();
  const waiting = find('a', cancelled.signal);
  cancelled.abort();
  acquirers.a.respond();
  expect(await waiting).toEqual(NO_SLOT);
  await Promise.all(hung);
});
