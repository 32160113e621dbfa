import { randomUUID } from 'node:crypto';
import { PROVIDER_CAPABILITIES, PROVIDERS, type ProviderName } from '../../src/domain/provider-capabilities';
import type { ProviderOperation } from '../../src/providers/calls/wrap-calls';
import type {
  IssuedQris,
  IssueQrisRequest,
  OrderKey,
  Provider,
  ProviderCall,
  ProviderPayment,
  ReceivedNotification,
} from '../../src/providers/provider';
import { parseQris } from '../../src/qris/qris';
import type { FaultKind } from '../../src/sandbox/faults';
import { collectGarbage } from '../support/collect-garbage';
import { eventually } from '../support/eventually';
import { startHostileServer, type HostileServer } from './hostile-server';

/** The calls of an adapter to its acquirer, by their names in the interface. */
const OPERATIONS: readonly ProviderOperation[] = [
  'issueQris',
  'findPayment',
  'expirePayment',
  'cancelPayment',
  'refundPayment',
];

export type ConnectedProvider = Provider & { close(): Promise<void> };

/** An acquirer with injected faults, and an adapter that is connected to it. */
export interface AcquirerUnderTest {
  readonly provider: ConnectedProvider;
  /** An adapter of another provider account of ours at the acquirer. */
  readonly stranger: ConnectedProvider;
  /** An adapter of the same kind for another address. */
  connectTo(baseUrl: string): ConnectedProvider;
  /** A customer pays. */
  pay(referenceId: string): Promise<void>;
  /** The next call of the operation fails in this way. */
  fail(operation: ProviderOperation, kind: FaultKind): Promise<void>;
  /** From the acquirer's ledger: orders created and refunds accepted for our reference; undefined if it has none. */
  readOrder(referenceId: string): Promise<{ charges: number; refunds: number } | undefined>;
  /** The acquirer's notification of an order, when it was sent. */
  notificationOf(referenceId: string): Promise<ReceivedNotification>;
  close(): Promise<void>;
}

const TOTAL_RUPIAH = 50_000;
/** Longer than any call takes on a busy machine. */
const CALL_TIMEOUT_MS = 60_000;
/** Shorter than the slowest response of a faulty acquirer; long enough to send the request. */
const SHORT_TIMEOUT_MS = 1_000;
const WITHOUT_RESPONSE: ReadonlySet<FaultKind> = new Set(['timeout', 'accept_then_timeout', 'slow']);

/** The request is lost, so nothing was executed; or the response is lost, so all was. */
const LOST_REQUESTS = ['timeout', 'reset', 'http_500'] as const satisfies FaultKind[];
const LOST_RESPONSES = ['accept_then_timeout', 'accept_then_reset', 'half_body', 'slow'] as const satisfies FaultKind[];

const withDefaultTimeout = (timeoutMs = CALL_TIMEOUT_MS): ProviderCall =>
  withTimeout(new AbortController().signal, timeoutMs);

/** Short for faults without a response. */
const withShortTimeout = (kind: FaultKind): ProviderCall =>
  withDefaultTimeout(WITHOUT_RESPONSE.has(kind) ? SHORT_TIMEOUT_MS : CALL_TIMEOUT_MS);

function withTimeout(signal: AbortSignal, ms: number): ProviderCall {
  return { signal, deadlineAtMs: Date.now() + ms };
}
const newReference = (): string => `LN${randomUUID().replaceAll('-', '').slice(0, 16).toUpperCase()}`;

const keyOf = (referenceId: string): OrderKey => ({ referenceId, issued: null });

function requestFor(referenceId: string, provider: ProviderName = 'gopay', expiresInMs = 900_000): IssueQrisRequest {
  const createdAt = new Date();
  const expiresAt = new Date(createdAt.getTime() + expiresInMs);
  return { provider, referenceId, totalRupiah: TOTAL_RUPIAH, createdAt, expiresAt };
}

function refundOf(referenceId: string, key = `${referenceId}-1`, totalRupiah = TOTAL_RUPIAH) {
  return { ...keyOf(referenceId), refundKey: key, totalRupiah, reason: 'out of stock' };
}

function callProvider(provider: Provider, operation: ProviderOperation, referenceId: string, call: ProviderCall) {
  switch (operation) {
    case 'issueQris':
      return provider.issueQris(requestFor(referenceId), call);
    case 'refundPayment':
      return provider.refundPayment(refundOf(referenceId), call);
    case 'findPayment':
    case 'expirePayment':
    case 'cancelPayment':
      return provider[operation](keyOf(referenceId), call);
  }
}

/** The requirements for every adapter. @param open a new acquirer and its adapter */
export function describeProvider(name: string, open: () => Promise<AcquirerUnderTest>): void {
  describe(name, () => {
    let acquirer: AcquirerUnderTest;
    let provider: ConnectedProvider;

    beforeAll(async () => {
      acquirer = await open();
      provider = acquirer.provider;
    });

    afterAll(() => acquirer.close());

    async function issued(
      by: ProviderName = 'gopay',
      referenceId = newReference(),
    ): Promise<IssuedQris & { id: string }> {
      const outcome = await provider.issueQris(requestFor(referenceId, by), withDefaultTimeout());
      if (outcome.outcome !== 'accepted') throw new Error(`${outcome.outcome}: ${outcome.reason}`);
      return { ...outcome, id: referenceId };
    }

    async function paid(by: ProviderName = 'gopay'): Promise<string> {
      const { id } = await issued(by);
      await acquirer.pay(id);
      return id;
    }

    async function find(referenceId: string): Promise<ProviderPayment> {
      const found = await provider.findPayment(keyOf(referenceId), withDefaultTimeout());
      if (found.outcome !== 'found') throw new Error(`${referenceId} is ${found.outcome}`);
      return found.payment;
    }

    describe.each(PROVIDERS)('with %s', (by) => {
      const capabilities = PROVIDER_CAPABILITIES[by];

      it('issues a valid QR with the amount of the order, which stays pending', async () => {
        const { id, qrisPayload, providerTransactionId } = await issued(by);
        const qris = parseQris(qrisPayload);
        expect(qris.ok && qris.value.totalRupiah).toBe(TOTAL_RUPIAH);
        expect(await find(id)).toMatchObject({
          status: 'pending',
          providerTransactionId,
          totalRupiah: TOTAL_RUPIAH,
          paidAt: null,
          refunds: [],
        });
      });

      it('reports the payment of the customer and its time', async () => {
        const startedAtMs = Date.now();
        const payment = await find(await paid(by));
        expect(payment).toMatchObject({ status: 'paid', totalRupiah: TOTAL_RUPIAH, refunds: [] });
        // Acquirers report whole seconds.
        expect(payment.paidAt?.getTime()).toBeGreaterThan(startedAtMs - 1_000);
        expect(payment.paidAt?.getTime()).toBeLessThanOrEqual(Date.now());
      });

      it('expires a pending order, and rejects it for a paid order', async () => {
        const [{ id: waiting }, done] = [await issued(by), await paid(by)];
        expect(await provider.expirePayment(keyOf(waiting), withDefaultTimeout())).toEqual({ outcome: 'accepted' });
        expect(await find(waiting)).toMatchObject({ status: 'expired', paidAt: null });
        expect(await provider.expirePayment(keyOf(done), withDefaultTimeout())).toMatchObject({ outcome: 'rejected' });
        expect(await provider.cancelPayment(keyOf(done), withDefaultTimeout())).toMatchObject({ outcome: 'rejected' });
        expect(await find(done)).toMatchObject({ status: 'paid' });
      });

      it(`${capabilities.cancel ? 'cancels' : 'rejects the cancellation of'} a pending order`, async () => {
        const { id } = await issued(by);
        const outcome = await provider.cancelPayment(keyOf(id), withDefaultTimeout());
        expect(outcome.outcome).toBe(capabilities.cancel ? 'accepted' : 'rejected');
        expect(await find(id)).toMatchObject({ status: capabilities.cancel ? 'cancelled' : 'pending' });
      });

      it(`${capabilities.refund ? 'accepts' : 'rejects'} a refund`, async () => {
        const id = await paid(by);
        const outcome = await provider.refundPayment(refundOf(id), withDefaultTimeout());
        expect(outcome.outcome).toBe(capabilities.refund ? 'accepted' : 'rejected');
        expect((await find(id)).refunds).toHaveLength(capabilities.refund ? 1 : 0);
      });
    });

    describe('an order', () => {
      it('an order that does not exist is not found, and every operation on it is rejected', async () => {
        expect(await provider.findPayment(keyOf(newReference()), withDefaultTimeout())).toEqual({
          outcome: 'not_found',
        });
        for (const operation of ['expirePayment', 'cancelPayment', 'refundPayment'] as const) {
          expect(await callProvider(provider, operation, newReference(), withDefaultTimeout())).toMatchObject({
            outcome: 'rejected',
          });
        }
      });

      it('an order is created once by ten concurrent requests, and no request is rejected', async () => {
        const referenceId = newReference();
        const outcomes = await Promise.all(
          Array.from({ length: 10 }, () => provider.issueQris(requestFor(referenceId), withDefaultTimeout())),
        );
        const payloads = outcomes.flatMap((outcome) => (outcome.outcome === 'accepted' ? outcome.qrisPayload : []));
        expect(new Set(payloads).size).toBe(1);
        expect(outcomes.filter(({ outcome }) => outcome === 'rejected')).toEqual([]);
        expect(await find(referenceId)).toMatchObject({ status: 'pending', totalRupiah: TOTAL_RUPIAH });
      });

      it('an order with another amount under the same reference is unusable', async () => {
        const { id } = await issued();
        const other = await provider.issueQris(
          { ...requestFor(id), totalRupiah: TOTAL_RUPIAH + 1 },
          withDefaultTimeout(),
        );
        expect(other.outcome).toBe('unusable');
        expect(await find(id)).toMatchObject({ totalRupiah: TOTAL_RUPIAH });
      });

      it('expires at the acquirer at the requested time', async () => {
        const referenceId = newReference();
        const request = requestFor(referenceId, 'gopay', 6_000);
        await provider.issueQris(request, withDefaultTimeout());
        expect(await find(referenceId)).toMatchObject({ status: 'pending' });
        await eventually(
          () => find(referenceId),
          ({ status }) => status === 'expired',
        );
        expect(Date.now()).toBeGreaterThan(request.expiresAt.getTime() - 1000);
      });

      it('an order that the acquirer rejects has its reason and does not exist', async () => {
        const referenceId = newReference();
        await acquirer.fail('issueQris', 'reject');
        expect(await callProvider(provider, 'issueQris', referenceId, withDefaultTimeout())).toMatchObject({
          outcome: 'rejected',
          reason: expect.stringMatching(/\S/),
        });
        expect(await acquirer.readOrder(referenceId)).toBeUndefined();
      });
    });

    describe('a refund', () => {
      it('a refund is accepted first, and final with a reference when the bank confirms it', async () => {
        const id = await paid();
        expect(await provider.refundPayment(refundOf(id), withDefaultTimeout())).toEqual({ outcome: 'accepted' });
        const taken = {
          refundKey: `${id}-1`,
          totalRupiah: TOTAL_RUPIAH,
          providerReference: expect.stringMatching(/\S/),
        };
        expect(await find(id)).toMatchObject({ status: 'paid', refunds: [{ ...taken, confirmedAt: null }] });
        const { refunds } = await eventually(
          () => find(id),
          ({ status }) => status === 'refunded',
        );
        expect(refunds).toEqual([{ ...taken, confirmedAt: expect.any(Date) }]);
      });

      it('a refund is executed once for ten concurrent requests with one key', async () => {
        const id = await paid();
        const outcomes = await Promise.all(
          Array.from({ length: 10 }, () => provider.refundPayment(refundOf(id), withDefaultTimeout())),
        );
        expect(outcomes.filter(({ outcome }) => outcome === 'rejected')).toEqual([]);
        expect(outcomes).toContainEqual({ outcome: 'accepted' });
        expect(await acquirer.readOrder(id)).toMatchObject({ refunds: 1 });
      });

      it('a refund of more than the remaining amount is rejected', async () => {
        const id = await paid();
        expect(await provider.refundPayment(refundOf(id, 'a', TOTAL_RUPIAH + 1), withDefaultTimeout())).toMatchObject({
          outcome: 'rejected',
        });
        await provider.refundPayment(refundOf(id, 'b'), withDefaultTimeout());
        expect(await provider.refundPayment(refundOf(id, 'c'), withDefaultTimeout())).toMatchObject({
          outcome: 'rejected',
        });
        expect(await acquirer.readOrder(id)).toMatchObject({ refunds: 1 });
      });

      it('a refund of an unpaid order is rejected', async () => {
        const { id } = await issued();
        expect(await provider.refundPayment(refundOf(id), withDefaultTimeout())).toMatchObject({ outcome: 'rejected' });
      });

      it('a rejected refund stays rejected for its key, and is not listed; another key is accepted', async () => {
        const id = await paid();
        await acquirer.fail('refundPayment', 'reject');
        const rejected = { outcome: 'rejected', reason: expect.stringMatching(/\S/) };
        expect(await provider.refundPayment(refundOf(id), withDefaultTimeout())).toEqual(rejected);
        expect(await provider.refundPayment(refundOf(id), withDefaultTimeout())).toEqual(rejected);
        expect(await find(id)).toMatchObject({ status: 'paid', refunds: [] });
        expect(await provider.refundPayment(refundOf(id, 'another'), withDefaultTimeout())).toEqual({
          outcome: 'accepted',
        });
      });
    });

    describe('a lost message', () => {
      /** The status before and after an operation, and how an order gets ready for it. */
      const EFFECTS = {
        expirePayment: { prepare: issued, before: 'pending', after: 'expired' },
        cancelPayment: { prepare: issued, before: 'pending', after: 'cancelled' },
      } as const;

      it.each(LOST_REQUESTS)(
        '%s: issueQris is indeterminate, no order exists, and a repeat creates it',
        async (kind) => {
          const referenceId = newReference();
          await acquirer.fail('issueQris', kind);
          expect(await callProvider(provider, 'issueQris', referenceId, withShortTimeout(kind))).toMatchObject({
            outcome: 'indeterminate',
          });
          expect(await provider.findPayment(keyOf(referenceId), withDefaultTimeout())).toEqual({
            outcome: 'not_found',
          });
          expect(await callProvider(provider, 'issueQris', referenceId, withDefaultTimeout())).toMatchObject({
            outcome: 'accepted',
          });
          expect(await acquirer.readOrder(referenceId)).toMatchObject({ charges: 1 });
        },
      );

      it.each(LOST_RESPONSES)(
        '%s: issueQris is indeterminate, and a repeat returns the QR of the one order',
        async (kind) => {
          const referenceId = newReference();
          await acquirer.fail('issueQris', kind);
          expect(await callProvider(provider, 'issueQris', referenceId, withShortTimeout(kind))).toMatchObject({
            outcome: 'indeterminate',
          });
          await eventually(
            () => provider.findPayment(keyOf(referenceId), withDefaultTimeout()),
            (found) => found.outcome === 'found' && found.payment.status === 'pending',
          );
          expect(await callProvider(provider, 'issueQris', referenceId, withDefaultTimeout())).toMatchObject({
            outcome: 'accepted',
          });
          expect(await acquirer.readOrder(referenceId)).toMatchObject({ charges: 1 });
        },
      );

      it.each([...LOST_REQUESTS, ...LOST_RESPONSES, 'reject'] as const)(
        '%s: findPayment is indeterminate',
        async (kind) => {
          const { id } = await issued();
          await acquirer.fail('findPayment', kind);
          expect(await callProvider(provider, 'findPayment', id, withShortTimeout(kind))).toMatchObject({
            outcome: 'indeterminate',
          });
          expect(await find(id)).toMatchObject({ status: 'pending' });
        },
      );

      describe.each(['expirePayment', 'cancelPayment'] as const)('of %s', (operation) => {
        const { prepare, before, after } = EFFECTS[operation];

        it.each(LOST_REQUESTS)('%s: is indeterminate, and the order is unchanged', async (kind) => {
          const { id } = await prepare();
          await acquirer.fail(operation, kind);
          expect(await callProvider(provider, operation, id, withShortTimeout(kind))).toMatchObject({
            outcome: 'indeterminate',
          });
          expect(await find(id)).toMatchObject({ status: before });
        });

        it.each(LOST_RESPONSES)(
          '%s: is indeterminate, the order is closed, and a repeat does not change it',
          async (kind) => {
            const { id } = await prepare();
            await acquirer.fail(operation, kind);
            expect(await callProvider(provider, operation, id, withShortTimeout(kind))).toMatchObject({
              outcome: 'indeterminate',
            });
            await eventually(
              () => find(id),
              ({ status }) => status === after,
            );
            const again = await callProvider(provider, operation, id, withDefaultTimeout());
            expect(['accepted', 'rejected']).toContain(again.outcome);
            expect(await find(id)).toMatchObject({ status: after });
          },
        );

        it('reject: is rejected, and the order is unchanged', async () => {
          const { id } = await prepare();
          await acquirer.fail(operation, 'reject');
          expect(await callProvider(provider, operation, id, withDefaultTimeout())).toMatchObject({
            outcome: 'rejected',
          });
          expect(await find(id)).toMatchObject({ status: before });
        });
      });

      it.each(LOST_REQUESTS)(
        '%s: refundPayment is indeterminate, no refund exists, and a repeat with its key creates it',
        async (kind) => {
          const id = await paid();
          await acquirer.fail('refundPayment', kind);
          expect(await callProvider(provider, 'refundPayment', id, withShortTimeout(kind))).toMatchObject({
            outcome: 'indeterminate',
          });
          expect(await find(id)).toMatchObject({ refunds: [] });
          expect(await callProvider(provider, 'refundPayment', id, withDefaultTimeout())).toEqual({
            outcome: 'accepted',
          });
          expect(await acquirer.readOrder(id)).toMatchObject({ refunds: 1 });
        },
      );

      it.each(LOST_RESPONSES)(
        '%s: refundPayment is indeterminate, and a repeat with its key refunds no second time',
        async (kind) => {
          const id = await paid();
          await acquirer.fail('refundPayment', kind);
          expect(await callProvider(provider, 'refundPayment', id, withShortTimeout(kind))).toMatchObject({
            outcome: 'indeterminate',
          });
          await eventually(
            () => find(id),
            ({ refunds }) => refunds.length === 1,
          );
          const again = await callProvider(provider, 'refundPayment', id, withDefaultTimeout());
          expect(again.outcome).not.toBe('rejected');
          expect(await acquirer.readOrder(id)).toMatchObject({ refunds: 1 });
        },
      );
    });

    describe('a notification', () => {
      it('a notification is verified, and names the order', async () => {
        const id = await paid();
        const notification = await acquirer.notificationOf(id);
        expect(provider.verifyNotification(notification)).toMatchObject({
          outcome: 'verified',
          referenceId: id,
          reportedStatus: 'paid',
        });
      });

      it('a notification of another provider account, or with another order, has an invalid signature', async () => {
        const id = await paid();
        const notification = await acquirer.notificationOf(id);
        expect(acquirer.stranger.verifyNotification(notification)).toEqual({ outcome: 'invalid_signature' });
        const rawBody = Buffer.from(notification.rawBody.toString('utf8').replaceAll(id, newReference()));
        expect(provider.verifyNotification({ ...notification, rawBody })).toEqual({ outcome: 'invalid_signature' });
      });

      it('a truncated notification is not verified, and the adapter throws for no text', async () => {
        const notification = await acquirer.notificationOf(await paid());
        for (let length = 0; length < notification.rawBody.length; length += 7) {
          const rawBody = notification.rawBody.subarray(0, length);
          expect(provider.verifyNotification({ ...notification, rawBody }).outcome).not.toBe('verified');
        }
        for (const text of ['null', '[]', '{}', '"', '['.repeat(100_000), '\u0000', '{"order_id":{}}']) {
          expect(provider.verifyNotification({ rawBody: Buffer.from(text), headers: {} }).outcome).not.toBe('verified');
        }
      });
    });

    describe('an acquirer with invalid responses', () => {
      let hostile: HostileServer;
      let adapter: ConnectedProvider;

      beforeAll(async () => {
        hostile = await startHostileServer();
        adapter = acquirer.connectTo(hostile.url);
      });

      beforeEach(() => hostile.reset());

      afterAll(async () => {
        await adapter.close();
        await hostile.close();
      });

      const INDETERMINATE = { outcome: 'indeterminate', reason: expect.stringMatching(/\S/) };

      describe.each(OPERATIONS)('%s', (operation) => {
        it('an operation is indeterminate after every invalid response', async () => {
          for (const response of hostile.responses) {
            hostile.respondWith(response);
            expect([response, await callProvider(adapter, operation, newReference(), withDefaultTimeout())]).toEqual([
              response,
              INDETERMINATE,
            ]);
          }
        });

        it('an operation does not follow a redirect', async () => {
          hostile.respondWith('a redirect');
          expect(await callProvider(adapter, operation, newReference(), withDefaultTimeout())).toEqual(INDETERMINATE);
          expect(hostile.paths).toHaveLength(1);
          expect(hostile.paths).not.toContain('/elsewhere');
        });

        it.each(['no response', 'one byte at a time'] as const)(
          'ends at its deadline, and when its activity is cancelled: %s',
          async (response) => {
            hostile.respondWith(response);
            // On a busy machine the deadline can pass before the request is sent.
            while (hostile.paths.length === 0) {
              expect(await callProvider(adapter, operation, newReference(), withDefaultTimeout(150.5))).toEqual(
                INDETERMINATE,
              );
            }
            const activity = new AbortController();
            const pending = callProvider(adapter, operation, newReference(), withTimeout(activity.signal, 600_000));
            await eventually(
              () => Promise.resolve(hostile.paths.length),
              (count) => count === 2,
            );
            activity.abort();
            expect(await pending).toEqual(INDETERMINATE);
            const late = await callProvider(adapter, operation, newReference(), withTimeout(activity.signal, 600_000));
            expect(late).toEqual(INDETERMINATE);
            expect(hostile.paths).toHaveLength(2);
          },
        );

        it('ends at its deadline after a garbage collection', async () => {
          hostile.respondWith('no response');
          const pending = callProvider(adapter, operation, newReference(), withDefaultTimeout(SHORT_TIMEOUT_MS));
          await eventually(
            () => Promise.resolve(hostile.paths.length),
            (count) => count === 1,
          );
          collectGarbage();
          expect(await pending).toEqual(INDETERMINATE);
        });

        it('sends nothing after its deadline, since another process may have taken over', async () => {
          hostile.respondWith('an empty object');
          expect(await callProvider(adapter, operation, newReference(), withDefaultTimeout(-1))).toEqual(INDETERMINATE);
          expect(hostile.paths).toEqual([]);
        });

        it('an operation is indeterminate if no server listens', async () => {
          const gone = await startHostileServer();
          await gone.close();
          const unreachable = acquirer.connectTo(gone.url);
          expect(await callProvider(unreachable, operation, newReference(), withDefaultTimeout())).toEqual(
            INDETERMINATE,
          );
          await unreachable.close();
        });
      });

      it.each(['issueQris', 'refundPayment'] as const)(
        '%s sends nothing if the process was suspended before the connection was ready',
        async (operation) => {
          hostile.respondWith('an empty object');
          const call = withDefaultTimeout();
          const now = Date.now;
          let reads = 0;
          const clock = jest.spyOn(Date, 'now').mockImplementation(() => now() + (reads++ === 0 ? 0 : 60_000));
          const outcome = await callProvider(adapter, operation, newReference(), call);
          clock.mockRestore();
          expect(outcome).toEqual(INDETERMINATE);
          expect(hostile.paths).toEqual([]);
        },
      );

      it('an acquirer is called over a persistent connection', async () => {
        hostile.respondWith('an empty object');
        for (let count = 0; count < 20; count += 1)
          await callProvider(adapter, 'findPayment', newReference(), withDefaultTimeout());
        expect(hostile.paths).toHaveLength(20);
        expect(hostile.connections).toBeLessThan(5);
      });
    });
  });
}
