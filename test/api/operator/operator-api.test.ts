import { openException } from '../../../src/db/operations/open-exception';
import { OPERATOR_ENDPOINTS } from '../../../src/servers/api-routes';
import { insertOperator } from '../../../src/services/identity/operators';
import { setPolicy } from '../../../src/services/provider-accounts/catalog';
import { sendRequest, startTestApis } from '../../support/api';
import { createPaid, statusOf } from '../../support/created-payment';
import { eventually } from '../../support/eventually';
import { endOperatorKey } from '../../support/keys';
import { operatorBody } from '../../support/operator-body';
import { createByOperator } from '../../support/payout-acts';
import { addLines, preparePayouts } from '../../support/payouts';
import { createShop } from '../../support/people';
import { newNamespace, startTestService, type ApiResponse, type TestService } from '../../support/service';

const UNKNOWN_ID = '0193e5c0-0000-7000-8000-000000000000';

let service: TestService;
let operatorId: string;
let secret: string;
beforeAll(async () => {
  service = await startTestService(await newNamespace(), { refundHoldSeconds: 0 });
  ({ id: operatorId, secret } = await insertOperator(service.db, { name: 'dewi', environment: 'sandbox' }));
  const manual = { settlementKind: 'manual', settlementDelaySeconds: 0 } as const;
  await setPolicy(service.db, { provider: 'gopay', channel: 'qris', ...manual });
});
afterAll(() => service.close());

/** No response has a text of the command line. */
async function call(method: string, path: string, body?: unknown, key = secret): Promise<ApiResponse> {
  const response = await service.callOperator(method, `/operator${path}`, body, { authorization: `Bearer ${key}` });
  expect(JSON.stringify(response.body)).not.toMatch(/\blunas [a-z]/);
  return response;
}

function expectRejected(status: number, code: string, message: RegExp) {
  return { status, body: { error: { code, message: expect.stringMatching(message) } } };
}

async function createRejectedRefund(): Promise<{ id: string; reference_id: string }> {
  const payment = await createPaid(service);
  await service.injectFault('refund', 'reject');
  expect((await service.call('POST', `/payments/${payment.id}/refund`)).status).toBe(200);
  await eventually(
    () => statusOf(service, payment.id),
    (status) => status === 'refund_failed',
  );
  return payment;
}

async function lastAction(target: string) {
  return (await call('GET', `/actions?target=${target}&limit=1`)).body.actions[0];
}

describe('authentication of the operator API', () => {
  const merchantAddresses = ['/payments/x', '/transactions', '/payments/x/qris'];
  const addresses = OPERATOR_ENDPOINTS.map(({ method, path }) => [
    method.toUpperCase(),
    path.replace(':id', UNKNOWN_ID),
  ]);

  it.each(addresses)(
    '%s %s accepts an operator, and rejects a merchant, an unknown key and a revoked key',
    async (method = '', path = '') => {
      const body = method === 'POST' ? operatorBody(path, 'n') : undefined;
      const revoked = await insertOperator(service.db, {
        name: `gone ${method} ${path}`,
        environment: 'sandbox',
      });
      await endOperatorKey(service.db, revoked.id);
      // More attempts of this address would reach the limit of failed authentications.
      const keys = path.includes('/payouts') ? [revoked.secret] : [service.secretKey, 'nonsense', revoked.secret];
      for (const key of keys) {
        const response = await service.callOperator(method, path, body, { authorization: `Bearer ${key}` });
        expect([response.status, response.body.error.code]).toEqual([401, 'invalid_api_key']);
      }
      const { status, headers } = await service.callOperator(method, path, body, { authorization: `Bearer ${secret}` });
      expect([200, 404]).toContain(status);
      expect(headers.get('ratelimit-limit')).toBe('1000000');
    },
  );

  it.each(merchantAddresses)('an operator’s key is rejected at %s', async (path) => {
    const { status, body } = await service.call('GET', path, undefined, { authorization: `Bearer ${secret}` });
    expect([status, body.error.code]).toEqual([401, 'invalid_api_key']);
  });

  it('limits the requests of each operator separately', async () => {
    const busy = await insertOperator(service.db, { name: 'busy', environment: 'sandbox' });
    await service.db.query('insert into rate_limits values ($1, 1000000, $2)', [busy.id, Date.now() + 60_000]);
    expect(await call('GET', '/actions', undefined, busy.secret)).toMatchObject(
      expectRejected(429, 'rate_limited', /requests a minute/),
    );
    expect((await call('GET', '/actions')).status).toBe(200);
  });
});

it('rejects an address after too many failed keys, and still accepts valid keys from there', async () => {
  const apis = await startTestApis([{}]);
  const operator = await insertOperator(apis.db, { name: 'dewi', environment: 'sandbox' });
  const callWithKey = (key: string) =>
    sendRequest(`${apis.operatorUrls[0]}/operator/actions`, { headers: { authorization: `Bearer ${key}` } });
  const responses: (string | undefined)[] = [];
  for (let attempt = 0; attempt < 61; attempt += 1) responses.push((await callWithKey('op_test_guess')).code);
  expect(responses).toEqual([...Array.from({ length: 60 }, () => 'invalid_api_key'), 'rate_limited']);
  expect((await callWithKey(operator.secret)).status).toBe(200);
  await apis.close();
});

describe('the body of an action', () => {
  const actions = OPERATOR_ENDPOINTS.filter(({ method }) => method === 'post').map(({ path }) =>
    path.replace('/operator', ''),
  );

  it.each(actions)('%s requires a note', async (path) => {
    const address = path.replace(':id', UNKNOWN_ID);
    for (const body of [{}, { note: '' }, { note: '  ' }, { note: 7 }, { note: 'x'.repeat(501) }]) {
      const { note: _, ...others } = operatorBody(path, '');
      expect(await call('POST', address, { ...others, ...body })).toMatchObject(
        expectRejected(400, 'invalid_json', /^note must /),
      );
    }
    expect(await call('POST', address, '{"note":')).toMatchObject(expectRejected(400, 'invalid_json', /JSON/));
    expect(await call('POST', address, [])).toMatchObject(expectRejected(400, 'invalid_json', /must be a JSON object/));
  });

  it('names the resolution of a refund', async () => {
    const address = `/payments/${UNKNOWN_ID}/refund/resolve`;
    expect(await call('POST', address, { note: 'n' })).toMatchObject(
      expectRejected(400, 'invalid_json', /^as must be refunded or paid\.$/),
    );
    expect(await call('POST', address, { note: 'n', as: 'settled' })).toMatchObject(
      expectRejected(400, 'invalid_json', /^as must be/),
    );
  });

  it.each(['/payments/nonsense', '/payments/%00', `/payments/${UNKNOWN_ID}`, '/payments/LN0000000000000000'])(
    '404 for an unknown payment: %s',
    async (path) => {
      expect(await call('GET', path)).toMatchObject(expectRejected(404, 'not_found', /There is no/));
      expect(await call('POST', `${path}/settle`, { note: 'n' })).toMatchObject(
        expectRejected(404, 'not_found', /There is no/),
      );
    },
  );

  it.each(['?limit=0', '?limit=1e3', '?target=%00', '?before=x', '?limit=1&limit=2'])(
    '400 for a query %s',
    async (query) => {
      expect(await call('GET', `/actions${query}`)).toMatchObject(
        expectRejected(400, 'invalid_parameter', /^\w+ .*\.$/),
      );
    },
  );
});

describe('an operator', () => {
  it('inspects a payment of any merchant: its record and the status of its workflow', async () => {
    const payment = await createPaid(service);
    const { status, body } = await call('GET', `/payments/${payment.reference_id}`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      payment: { id: payment.id, status: 'paid', settlement_kind: 'manual', total_rupiah: 50_000 },
      transitions: [{ name: 'create' }, { name: 'issue' }, { name: 'pay', from_status: 'pending', actor: 'workflow' }],
      ledger: [{ account: 'provider_receivable' }, { account: 'merchant_pending' }, { account: 'fee_revenue' }],
      refunds: [],
      late_payment: null,
      exceptions: [],
      workflow: { state: 'running', status: 'paid', waiting_for: 'an operator to settle it' },
    });
  });

  it('settles once, is named in the history, and both attempts are in the audit log', async () => {
    const { id } = await createPaid(service);
    const { status, body } = await call('POST', `/payments/${id}/settle`, { note: 'statement 7' });
    expect([status, body.payment]).toEqual([200, expect.objectContaining({ id, status: 'settled' })]);
    expect(await call('POST', `/payments/${id}/settle`, { note: 'again' })).toMatchObject(
      expectRejected(400, 'payment_cancel_failed', /"settled"/),
    );

    const { transitions, actions } = (await call('GET', `/payments/${id}`)).body;
    expect(transitions.at(-1)).toMatchObject({ name: 'settle', actor: 'operator:dewi', note: 'statement 7' });
    expect(actions).toMatchObject([
      { actor: 'operator:dewi', via: 'api', action: 'payment.settle', note: 'again', outcome: 'rejected' },
      { actor: 'operator:dewi', note: 'statement 7', outcome: 'succeeded', finished_at: expect.any(String) },
    ]);
    const { rows } = await service.db.query('select distinct operator_id from operator_actions where target = $1', [
      id,
    ]);
    expect(rows).toEqual([{ operator_id: operatorId }]);
  });

  it('fails a payment whose order does not exist at the provider, and not one that is pending there', async () => {
    const { body } = await service.call('POST', '/payments', { amount: 50_000 });
    const { id, reference_id } = body.payment;
    expect(await call('POST', `/payments/${id}/fail`, { note: 'ticket 7' })).toMatchObject(
      expectRejected(400, 'payment_cancel_failed', /has the order as pending/),
    );
    await service.providerDb.query('delete from payments where order_id = $1', [reference_id]);
    const failed = await call('POST', `/payments/${reference_id}/fail`, { note: 'ticket 7' });
    expect([failed.status, failed.body.payment]).toEqual([200, { id, reference_id, status: 'failed' }]);
    const { transitions, actions } = (await call('GET', `/payments/${id}`)).body;
    expect(transitions.at(-1)).toMatchObject({ to_status: 'failed', actor: 'operator:dewi', note: 'ticket 7' });
    expect(actions[0]).toMatchObject({ action: 'payment.fail', outcome: 'succeeded' });
  });

  it('settles once for sixty concurrent requests, and the others are rejected with the reason', async () => {
    const { id } = await createPaid(service);
    const responses = await Promise.all(
      Array.from({ length: 60 }, () => call('POST', `/payments/${id}/settle`, { note: 'n' })),
    );
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(responses.filter(({ status }) => status === 400)).toHaveLength(59);
    expect((await service.transitionsOf(id)).filter((name) => name === 'settle')).toHaveLength(1);
  });

  it('settles a payment whose workflow was terminated', async () => {
    const { id } = await createPaid(service);
    await service.client.workflow.getHandle(`payment-${id}`).terminate();
    const shown = await call('GET', `/payments/${id}`);
    expect(shown.body.workflow).toEqual({ state: 'terminated', closed_at: expect.any(String) });
    const { status, body } = await call('POST', `/payments/${id}/settle`, { note: 'n' });
    expect([status, body.payment?.status]).toEqual([200, 'settled']);
  });

  it('retries a rejected refund', async () => {
    const { id } = await createRejectedRefund();
    const { status, body } = await call('POST', `/payments/${id}/refund/retry`, { note: 'the outage is over' });
    expect([status, body.payment.status]).toEqual([200, 'refund_processing']);
    await eventually(
      () => statusOf(service, id),
      (now) => now === 'refunded',
    );
    expect((await call('GET', `/payments/${id}`)).body.refunds).toMatchObject([
      { status: 'rejected' },
      { status: 'confirmed' },
    ]);
    expect(await call('POST', `/payments/${id}/refund/retry`, { note: 'n' })).toMatchObject(
      expectRejected(400, 'payment_refund_failed', /"refunded"/),
    );
  });

  it.each(['paid', 'refunded'])('resolves a rejected refund as %s', async (as) => {
    const { id } = await createRejectedRefund();
    const { status, body } = await call('POST', `/payments/${id}/refund/resolve`, { as, note: 'by hand' });
    expect([status, body.payment.status]).toEqual([200, as]);
    expect(await lastAction(id)).toMatchObject({
      action: `refund.resolve_as_${as}`,
      note: 'by hand',
      outcome: 'succeeded',
    });
  });

  it('lists the open exceptions and resolves one, once', async () => {
    const exception = { kind: 'unknown_order', providerAccountId: null, paymentId: null, amountRupiah: 5 } as const;
    await openException(service.db, { ...exception, referenceId: 'LN1', detail: 'Unknown order.' });
    const [open] = (await call('GET', '/exceptions')).body.exceptions;
    expect(open).toMatchObject({ kind: 'unknown_order', reference_id: 'LN1', amount_rupiah: 5, resolved_at: null });
    const { status, body } = await call('POST', `/exceptions/${open.id}/resolve`, { note: 'sent back' });
    expect([status, body.exception]).toEqual([
      200,
      expect.objectContaining({ resolved_by: 'operator:dewi', note: 'sent back' }),
    ]);
    expect(await call('POST', `/exceptions/${open.id}/resolve`, { note: 'n' })).toMatchObject(
      expectRejected(404, 'not_found', /no open exception/),
    );
    expect((await call('GET', '/exceptions')).body.exceptions).toEqual([]);
    expect((await call('GET', '/exceptions?all=true')).body.exceptions).toMatchObject([{ id: open.id }]);
  });

  it('redelivers a dead webhook, and not one that is pending', async () => {
    const { id } = await createPaid(service);
    const { rows } = await service.db.query(
      `with endpoint as (
         insert into webhook_endpoints (id, merchant_id, url) values (gen_random_uuid(), $1, 'http://127.0.0.1:9/')
         returning id
       )
       insert into webhook_deliveries (id, payment_id, payment_version, endpoint_id, merchant_id, event, status,
         dead_reason, finished_at)
       select gen_random_uuid(), $2, 3, endpoint.id, $1, 'payment.paid', 'dead', 'exhausted', now() from endpoint
       returning id`,
      [service.merchantId, id],
    );
    const [delivery] = rows;
    const { status, body } = await call('POST', `/deliveries/${delivery.id}/redeliver`, { note: 'they are back' });
    expect([status, body]).toEqual([200, { delivery: { id: delivery.id, status: 'pending' } }]);
    expect(await lastAction(delivery.id)).toMatchObject({ action: 'webhook.redeliver', outcome: 'succeeded' });
    expect(await call('POST', `/deliveries/${UNKNOWN_ID}/redeliver`, { note: 'n' })).toMatchObject(
      expectRejected(404, 'not_found', /no delivery/),
    );
    expect(await call('POST', '/deliveries/x/redeliver', { note: 'n' })).toMatchObject(
      expectRejected(404, 'not_found', /./),
    );
  });

  it('reads the audit log page by page', async () => {
    const first = (await call('GET', '/actions?limit=2')).body.actions;
    const second = (await call('GET', `/actions?limit=2&before=${first[1].id}`)).body.actions;
    const ids = [...first, ...second].map(({ id }: { id: number }) => id);
    expect(ids).toHaveLength(4);
    expect(ids).toEqual(ids.toSorted((one, other) => other - one));
    expect(new Set(ids).size).toBe(4);
  });

  it('gets nothing internal if something fails', async () => {
    await service.db.query('alter table operator_actions rename to away');
    const { id } = await createPaid(service);
    const { status, body, headers } = await call('POST', `/payments/${id}/settle`, { note: 'n' });
    await service.db.query('alter table away rename to operator_actions');
    expect([status, body.error.code]).toEqual([500, 'server_error']);
    expect(body.error.message).toBe(
      `The request could not be processed (${headers.get('x-request-id')}). Try again later.`,
    );
    // An action that cannot be recorded is not executed.
    expect(await statusOf(service, id)).toBe('paid');
  });
});

it('the operator API is not in the documentation for merchants', async () => {
  const { text } = await service.call('GET', '/openapi.json');
  expect(text).not.toMatch(/operator\/|op_test/);
});

it('a key stops all payouts: none is requested until they are started again', async () => {
  const { db } = service;
  const { id: merchantId } = await createShop(db);
  await addLines(await preparePayouts(service, merchantId), [252_500]);
  const request = (key: string) => createByOperator({ db, workflows: service.workflows }, { merchantId, key });
  const { secret: key } = await insertOperator(db, { name: 'stop', environment: 'sandbox', scopes: ['payout'] });
  const change = (verb: 'stop' | 'start') => call('POST', `/payouts/${verb}`, { note: 'incident 7' }, key);
  expect(await change('stop')).toMatchObject({ status: 200, body: { is_stopped: true } });
  // A stop for a second reason is recorded too.
  expect(await change('stop')).toMatchObject({ status: 200, body: { is_stopped: true } });
  await expect(request('k2')).rejects.toThrow(/to start payouts again/);
  expect(await change('start')).toMatchObject({ status: 200, body: { is_stopped: false } });
  expect(await request('k3')).toMatchObject({ status: 'requested' });
});

it('a key with the scope of payouts shows and cancels one, in the version that its owner has seen', async () => {
  const { db } = service;
  const { id: merchantId } = await createShop(db);
  await addLines(await preparePayouts(service, merchantId), [252_500]);
  const payout = await createByOperator({ db, workflows: service.workflows }, { merchantId, key: 'k1' });
  const { secret: key } = await insertOperator(db, {
    name: 'payouts',
    environment: 'sandbox',
    scopes: ['read', 'payout'],
  });
  const address = `/payouts/${payout.referenceId}`;
  const list = await call('GET', `/payouts?merchant_id=${merchantId}&needs_attention=true`, undefined, key);
  expect(list.body.payouts).toMatchObject([{ id: payout.id, attention_reason: 'waiting_for_approval' }]);
  expect((await call('GET', address, undefined, key)).body).toMatchObject({
    payout: { status: 'requested', amount_rupiah: 250_000 },
    lines: [{ kind: 'settlement', count: 1, rupiah: 252_500 }],
    workflow: { state: 'running', waiting_for: expect.stringContaining('an operator to approve it') },
  });
  const resolution = { note: 'n', as: 'failed', evidence: 'line 12' };
  expect(await call('POST', `${address}/resolve`, resolution, key)).toMatchObject(
    expectRejected(403, 'scope_not_allowed', /scope/),
  );
  const outdated = await call('POST', `${address}/cancel`, { note: 'n', version: 7 }, key);
  expect(outdated).toMatchObject(expectRejected(400, 'payment_cancel_failed', /has changed meanwhile/));
  expect(outdated.headers.get('x-error-reason')).toBe('superseded');
  const cancelled = await call('POST', `${address}/cancel`, { note: 'n', version: 1 }, key);
  expect(cancelled).toMatchObject({ status: 200, body: { payout: { status: 'cancelled', version: 2 } } });
  // Nothing asks the bank: the rest is shown nevertheless.
  await service.stopWorker();
  expect(await call('GET', address, undefined, key)).toMatchObject({
    status: 200,
    body: { payout: { status: 'cancelled' }, bank: { error: expect.any(String) } },
  });
});
