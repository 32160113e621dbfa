import { randomUUID } from 'node:crypto';
import { Client, WorkflowFailedError, WorkflowUpdateFailedError } from '@temporalio/client';
import type { Payload, PayloadCodec } from '@temporalio/common';
import * as sandboxTimers from '../../activities/sandbox-timers';
import { verifyStep } from '../../activities/verify-terms';
import { findTerms } from '../../src/db/payments/find-terms';
import { readState } from '../../src/db/transitions/payment-state';
import type { StepActor } from '../../src/domain/actor';
import type { PaymentTerms } from '../../src/domain/payment';
import { MERCHANT, UNPROVEN_OPERATOR } from '../../src/domain/payment-actions';
import { updateProof } from '../../src/domain/update-arguments';
import { setPolicy } from '../../src/services/provider-accounts/catalog';
import { PAYMENTS_TASK_QUEUE, paymentWorkflowId } from '../../workflows/ids';
import { activityDependencies } from '../support/activity-dependencies';
import { createPaid, createPayment, statusOf, waitForStatus } from '../support/created-payment';
import { newNamespace, startTestService, type TestService } from '../support/service';
import { FakeAcquirer } from '../workflows/model/fake-acquirer';

/** Attacks of a stranger who reaches Temporal. None may change a payment, or stop the one that is attacked. */
type UpdateArgs = [actor: unknown, resolution?: unknown, proof?: unknown, correlation?: unknown];

/** The version of a payment that is created, issued and paid. */
const PAID_VERSION = 3;

/** Temporal has nothing of it. */
const REQUEST = { merchant_reference_id: 'ORDER-SECRET' };

let service: TestService;
/** Without the keys of Lunas. */
let stranger: Client;

beforeAll(async () => {
  service = await startTestService(await newNamespace());
  await setPolicy(service.db, {
    provider: 'gopay',
    channel: 'qris',
    settlementKind: 'manual',
    settlementDelaySeconds: 0,
  });
  stranger = clientEncoding((payloads) => payloads);
});
afterAll(() => service.close());

/** It can read errors, as the tests do. */
function clientEncoding(encode: (payloads: Payload[]) => Payload[]): Client {
  const { connection, options } = service.client;
  const [codec] = options.loadedDataConverter.payloadCodecs;
  const payloadCodecs: PayloadCodec[] = [
    {
      encode: (payloads) => Promise.resolve(encode(payloads)),
      decode: (payloads, context) => codec?.decode(payloads, context) ?? Promise.resolve(payloads),
    },
  ];
  return new Client({ connection, namespace: options.namespace, dataConverter: { payloadCodecs } });
}

/** Sends captured payloads as they are. */
function replayClient(captured: Payload[]): Client {
  return clientEncoding(() => captured);
}

function settle(client: Client, id: string, args: UpdateArgs, updateId: string = randomUUID()): Promise<unknown> {
  return client.workflow
    .getHandle(paymentWorkflowId(id))
    .executeUpdate<unknown, UpdateArgs>('settle', { args, updateId });
}

async function historyOf(id: string) {
  const { events } = await service.client.workflow.getHandle(paymentWorkflowId(id)).fetchHistory();
  return events ?? [];
}

async function capturedArguments(id: string, update: string): Promise<Payload[]> {
  const inputs = (await historyOf(id)).map(
    (event) => event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest?.input,
  );
  return inputs.find((input) => input?.name === update)?.args?.payloads ?? [];
}

const proofOf = (update: string, updateId: string) => updateProof(update, updateId, PAID_VERSION);

function startForged(client: Client, args: unknown[], workflowId = `payment-${randomUUID()}`): Promise<unknown> {
  return client.workflow
    .start('payment', { workflowId, taskQueue: PAYMENTS_TASK_QUEUE, args })
    .then((handle) => handle.result());
}

describe('a forged update', () => {
  it('a forged update without the keys neither settles a payment nor stops the one that it is sent to', async () => {
    const [attacked, other] = [await createPaid(service, REQUEST), await createPaid(service, REQUEST)];
    const by = { name: 'operator:dewi', paymentId: other.id, version: 3, at: new Date().toISOString() };
    await expect(settle(stranger, attacked.id, [by, null, 'settle/1'])).rejects.toThrow(WorkflowUpdateFailedError);
    const updateId = randomUUID();
    const operator: StepActor = { name: 'operator:dewi' };
    const perfect: UpdateArgs = [operator, null, proofOf('settle', updateId)];
    await expect(settle(stranger, attacked.id, perfect, updateId)).rejects.toThrow(WorkflowUpdateFailedError);
    await expect(settle(stranger, attacked.id, [undefined])).rejects.toThrow(WorkflowUpdateFailedError);
    expect([await statusOf(service, attacked.id), await statusOf(service, other.id)]).toEqual(['paid', 'paid']);
    const done = await service.workflows.request(attacked, 'settle', operator);
    expect(done).toEqual({ outcome: 'done', status: 'settled' });
  });

  it.each([
    ['the id and version of another payment', { name: 'operator:dewi', paymentId: randomUUID(), version: 3 }],
    ['a merchant as the actor of an operator action', MERCHANT],
    ['the actor of signals', UNPROVEN_OPERATOR],
    ['no actor', null],
  ])('a forged update with the keys is rejected: %s', async (_, actor) => {
    const { id } = await createPaid(service, REQUEST);
    const updateId = randomUUID();
    const args: UpdateArgs = [actor, null, proofOf('settle', updateId)];
    await expect(settle(service.client, id, args, updateId)).rejects.toThrow(WorkflowUpdateFailedError);
    expect(await statusOf(service, id)).toBe('paid');
  });

  it('a forged update with the arguments of an earlier one is rejected by each payment', async () => {
    const { id } = await createPaid(service, REQUEST);
    await service.call('POST', `/payments/${id}/refund`);
    await service.call('POST', `/payments/${id}/cancel`);
    expect(await statusOf(service, id)).toBe('paid');
    const captured = await capturedArguments(id, 'refund');
    expect(captured).toHaveLength(4);
    for (const target of [id, (await createPaid(service, REQUEST)).id]) {
      const refund = replayClient(captured)
        .workflow.getHandle(paymentWorkflowId(target))
        .executeUpdate<unknown, UpdateArgs>('refund', { args: [null] });
      await expect(refund).rejects.toThrow(WorkflowUpdateFailedError);
      expect(await statusOf(service, target)).toBe('paid');
    }
  });
});

describe('a genuine update', () => {
  it('a genuine update that a later run of the same workflow gets again, with its id, is rejected', async () => {
    const { id } = await createPaid(service, REQUEST);
    await service.call('POST', `/payments/${id}/refund`);
    await service.call('POST', `/payments/${id}/cancel`);
    expect(await statusOf(service, id)).toBe('paid');
    const captured = await capturedArguments(id, 'refund');
    const updateIds = (await historyOf(id)).flatMap((event) => {
      const request = event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest;
      return request?.input?.name === 'refund' ? (request.meta?.updateId ?? []) : [];
    });
    expect(updateIds).toHaveLength(1);
    const handle = service.client.workflow.getHandle(paymentWorkflowId(id));
    await handle.terminate('to begin a later run');
    const terms = await findTerms(service.db, id);
    if (!terms) throw new Error('no terms');
    const state = await readState(service.db, id);
    expect(await service.workflows.resumePayment(terms, { state, createdAtMs: Date.now() })).toBe('rebuilt');

    const replayed = replayClient(captured)
      .workflow.getHandle(paymentWorkflowId(id))
      .executeUpdate<unknown, UpdateArgs>('refund', { args: [null], updateId: updateIds[0] ?? '' });
    await expect(replayed).rejects.toThrow(WorkflowUpdateFailedError);
    expect(await statusOf(service, id)).toBe('paid');
    // Lunas itself learns the version from the workflow.
    for (const version of [0, PAID_VERSION, 99]) {
      expect(await service.workflows.request({ id, version }, 'refund', MERCHANT)).toMatchObject({ outcome: 'done' });
      expect(await service.workflows.request({ id, version }, 'cancel', MERCHANT)).toMatchObject({ outcome: 'done' });
    }
  });

  it('a genuine update for another version of the payment is no rejection, so that Lunas repeats it', async () => {
    const { id } = await createPaid(service, REQUEST);
    const updateId = randomUUID();
    const args: UpdateArgs = [MERCHANT, null, updateProof('refund', updateId, PAID_VERSION - 1)];
    const refund = service.client.workflow
      .getHandle(paymentWorkflowId(id))
      .executeUpdate<unknown, UpdateArgs>('refund', { args, updateId });
    await expect(refund).rejects.toMatchObject({ cause: { type: 'RequestOutdated', details: [PAID_VERSION] } });
    expect(await statusOf(service, id)).toBe('paid');
  });
});

describe('a forged start', () => {
  it('a forged start without the keys fails its workflow immediately', async () => {
    const { id } = await createPayment(service, REQUEST);
    const paymentId = randomUUID();
    const terms = { ...(await findTerms(service.db, id)), paymentId, referenceId: 'LN0000000000000000' };
    const forged = startForged(stranger, [terms], paymentWorkflowId(paymentId));
    await expect(forged).rejects.toThrow(WorkflowFailedError);
    expect((await service.call('GET', `/payments/${paymentId}`)).status).toBe(404);
    await expect(startForged(stranger, [])).rejects.toThrow(WorkflowFailedError);
    expect(await statusOf(service, id)).toBe('pending');
  });

  it('a start with the ciphertext of another payment fails, and `lunas recover` does not read it', async () => {
    const { id } = await createPayment(service, REQUEST);
    const [started] = await historyOf(id);
    const captured = started?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
    expect(captured).toHaveLength(1);
    const forged = randomUUID();
    await expect(startForged(replayClient(captured), [1], paymentWorkflowId(forged))).rejects.toThrow(
      WorkflowFailedError,
    );
    await expect(service.workflows.records.readCreation(forged)).rejects.toThrow(
      `belongs to the workflow payment-${id}`,
    );
  });

  it.each([
    ['another provider account', { providerAccountId: randomUUID() }],
    ['another total', { totalRupiah: 1, amountRupiah: 1 }],
    ['another merchant', { merchantId: randomUUID() }],
  ])('a forged start with the keys and %s fails at PostgreSQL', async (_, changes: Partial<PaymentTerms>) => {
    const { id, reference_id } = await createPayment(service, REQUEST);
    const terms = { ...(await findTerms(service.db, id)), ...changes };
    const resumed = { state: { status: 'pending', version: 2 }, createdAtMs: Date.now() - 3_600_000 };
    await expect(startForged(service.client, [terms, resumed])).rejects.toThrow(WorkflowFailedError);
    expect(await statusOf(service, id)).toBe('pending');
    await service.pay(reference_id);
    await waitForStatus(service, id, 'paid');
  });
});

it('Temporal stores no text of a payment in clear besides its search attributes', async () => {
  const { id } = await createPayment(service, REQUEST);
  const [started, ...later] = await historyOf(id);
  const stored = [{ ...started?.workflowExecutionStartedEventAttributes, searchAttributes: null }, ...later].map(
    (event) =>
      JSON.stringify(event, (_, value) => (value instanceof Uint8Array ? Buffer.from(value).toString() : value)),
  );
  const { merchantReferenceId, providerAccountId, policyId } = await findTerms(service.db, id);
  expect(merchantReferenceId).toBe('ORDER-SECRET');
  for (const text of ['ORDER-SECRET', providerAccountId, policyId]) expect(stored.join('\n')).not.toContain(text);
});

it.each<[string, StepActor, number]>([
  ['production', UNPROVEN_OPERATOR, 0],
  ['production', { name: 'operator:dewi' }, 1],
  ['sandbox', UNPROVEN_OPERATOR, 1],
])('environment %s: a step that %j requested runs %d times', async (environment, by, times) => {
  const { id } = await createPayment(service, REQUEST);
  const terms = await findTerms(service.db, id);
  const state = { status: 'pending', version: 2 } as const;
  const step = jest.fn(() => Promise.resolve({ state }));
  const dependencies = activityDependencies({ ...service.context, environment }, new FakeAcquirer());
  const result = await verifyStep(step)(dependencies, { terms, state, atMs: Date.now(), createdAtMs: Date.now(), by });
  expect(step).toHaveBeenCalledTimes(times);
  expect(result.rejection === undefined).toBe(times === 1);
});

it.each([
  ['expireNow', sandboxTimers.expireNow],
  ['settleNow', sandboxTimers.settleNow],
  ['submitRefundNow', sandboxTimers.submitRefundNow],
])('%s of a sandbox changes nothing in production', async (_, fireNow) => {
  const { id } = await createPayment(service, REQUEST);
  const terms = await findTerms(service.db, id);
  const state = { status: 'pending', version: 2 } as const;
  const dependencies = activityDependencies({ ...service.context, environment: 'production' }, new FakeAcquirer());
  const result = await fireNow(dependencies, { terms, state, atMs: Date.now(), createdAtMs: Date.now() });
  expect(result).toMatchObject({ state, rejection: 'In production a timer has its time.' });
  expect(await service.transitionsOf(id)).toEqual(['create', 'issue']);
});
